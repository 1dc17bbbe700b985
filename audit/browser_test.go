package audit

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pinfold-dev/pinfold/analyzers/flow"
)

// The page is read by people who do not write Go: it is opened in a real browser,
// with text of the audited source that tries to be markup, and looked at.
func TestPageInBrowser(t *testing.T) {
	browser := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if p, err := exec.LookPath(name); err == nil {
			browser = p
			break
		}
	}
	if browser == "" || testing.Short() {
		t.Skip("no browser")
	}
	evil := `</td><script>document.title="owned"</script><img src=x onerror="document.title='owned'">`
	origin := func(c flow.Class) []*flow.Origin {
		return []*flow.Origin{{Class: c, Detail: evil, Path: []flow.Step{{What: evil, In: evil}}}}
	}
	r := &Report{Module: evil, Root: "/"}
	for i, s := range []struct {
		class flow.Class
		v     Verdict
		sens  string
	}{{"user:http-request", Crosses, "pii"}, {"unknown:call", Unknown, ""}, {"operator:flag", Inside, evil}} {
		r.Slots = append(r.Slots, &Row{N: i + 1, Verdict: s.v, Sensitivity: s.sens,
			Slot: &flow.Slot{Name: evil, Origins: origin(s.class), Sinks: []flow.Sink{{Func: evil, Role: "user"}}}})
	}
	r.Notes, r.Failed = []string{evil}, []Failure{{evil, evil}}
	var page bytes.Buffer
	if err := Write(&page, HTML, r); err != nil {
		t.Fatal(err)
	}
	// What a reader would do: choose a filter, and count what is shown.
	probe := `<script>
const counts = {};
for (const v of ["", "crosses", "unknown", "inside"]) { trust.value = v; filter(); counts[v || "all"] = shown.textContent; }
trust.value = ""; sens.value = "pii"; filter(); counts.pii = shown.textContent;
sens.value = "-"; filter(); counts.none = shown.textContent; sens.value = ""; filter();
document.querySelectorAll("details").forEach(d => d.open = true);
const p = document.createElement("pre"); p.id = "probe";
p.textContent = JSON.stringify({counts, title: document.title, scripts: document.scripts.length, images: document.images.length, ways: document.querySelectorAll(".way li").length});
document.body.append(p);
</script></body>`
	html := strings.Replace(page.String(), "</body>", probe, 1)
	dir := t.TempDir()
	file := filepath.Join(dir, "report.html")
	if err := os.WriteFile(file, []byte(html), 0o644); err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) []byte {
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
		defer cancel()
		base := []string{"--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update",
			"--disable-sync", "--no-first-run", "--user-data-dir=" + filepath.Join(dir, "profile")}
		out, err := exec.CommandContext(ctx, browser, append(append(base, args...), "file://"+file)...).Output()
		if err != nil {
			t.Fatalf("%s: %v", browser, err)
		}
		return out
	}
	dom := string(run("--dump-dom"))
	_, rest, ok := strings.Cut(dom, `<pre id="probe">`)
	if !ok {
		t.Fatal("the page's script did not run")
	}
	got, _, _ := strings.Cut(rest, "</pre>")
	for _, want := range []string{
		`"all":"3 shown"`, `"crosses":"1 shown"`, `"unknown":"1 shown"`, `"inside":"1 shown"`, `"pii":"1 shown"`, `"none":"1 shown"`,
		`"scripts":2`, `"images":0`, `"ways":6`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the page says %s, want %s", got, want)
		}
	}
	if strings.Contains(got, `"title":"owned"`) {
		t.Error("text of the audited source ran as a script")
	}
	shot := filepath.Join(t.ArtifactDir(), "report.png")
	run("--screenshot="+shot, "--window-size=1400,1000")
	if st, err := os.Stat(shot); err != nil || st.Size() < 5000 {
		t.Fatalf("no screenshot: %v", err)
	}
	t.Logf("screenshot: %s", shot)
}

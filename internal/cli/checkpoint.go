package cli

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"time"

	"github.com/pinfold-dev/pinfold/engine"
	"github.com/pinfold-dev/pinfold/mkl"
	"github.com/pinfold-dev/pinfold/policy"
	"github.com/pinfold-dev/pinfold/run"
	"github.com/pinfold-dev/pinfold/value"
)

// envelopeOf is the portable form of a parked run (LANGUAGE.md §18.1). It pins
// what would run again: the file's bytes, and the canonical form of the machine
// and of every machine it can reach.
func envelopeOf(res *run.Result, prog *engine.Program, path string, source []byte, o engine.Options, now time.Time) value.Value {
	sum := sha256.Sum256(source)
	hashes := make([]value.Entry, 0, 4)
	for _, m := range prog.Reachable() {
		hashes = append(hashes, kstr(m.Name, mkl.Hash(m)))
	}
	cost := value.Value{}
	if o.HasCostBudget {
		cost = value.FromInt(int64(o.CostBudget))
	}
	return obj(
		kint("format", 1),
		kstr("pinfold_version", Version),
		kstr("created", now.UTC().Format(time.RFC3339)),
		kstr("run", res.RunID),
		kstr("machine", prog.Machine().Name),
		kstr("machine_path", path),
		kstr("machine_sha256", hex.EncodeToString(sum[:])),
		kv("program_sha256", obj(hashes...)),
		kstr("reason", res.Error),
		kv("cost_budget", cost),
		kbool("hitl", o.EscalateSuspend),
		kv("policy", policies(o)),
		kv("frames", res.Frames.Value()),
		kv("claimed", value.Value{}),
	)
}

func policies(o engine.Options) value.Value {
	truncate := "report"
	if o.OnTruncate == engine.TruncateHalt {
		truncate = "halt"
	}
	return obj(
		kstr("untrusted_flow", o.Policies.UntrustedFlow.String()),
		kstr("untrusted_argument", o.Policies.UntrustedArgument.String()),
		kstr("secret_egress", o.Policies.SecretEgress.String()),
		kstr("on_truncate", truncate),
	)
}

// writeCheckpoint writes the envelope whole or not at all, for its owner alone:
// it holds the blackboard in clear.
func writeCheckpoint(path string, v value.Value) error {
	if dir := filepath.Dir(path); dir != "." {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	return writeFile(path, append(v.AppendIndentJSON(nil, ""), '\n'), 0o600)
}

// asks says whether any rule can suspend the run.
func asks(p policy.Policies) bool {
	return p.UntrustedFlow == policy.Ask || p.UntrustedArgument == policy.Ask || p.SecretEgress == policy.Ask
}

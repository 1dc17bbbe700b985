package cli

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/pinfold-dev/pinfold/checkpoint"
	"github.com/pinfold-dev/pinfold/engine"
	"github.com/pinfold-dev/pinfold/policy"
	"github.com/pinfold-dev/pinfold/run/durable"
	"github.com/pinfold-dev/pinfold/store"
)

// asks says whether any rule can suspend the run.
func asks(p policy.Policies) bool {
	return p.UntrustedFlow == policy.Ask || p.UntrustedArgument == policy.Ask || p.SecretEgress == policy.Ask
}

// machineOf is where the machine of a checkpoint is now: the path that it records,
// from here or from beside the checkpoint.
func machineOf(recorded, beside string) string {
	if _, err := os.Stat(recorded); err != nil && !filepath.IsAbs(recorded) && beside != "" {
		if near := filepath.Join(filepath.Dir(beside), recorded); exists(near) {
			return near
		}
	}
	return recorded
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// resumeFailure gives an error of what keeps and resumes runs its code (LANGUAGE.md
// §20). Whatever has a code of its own has run nothing.
func resumeFailure(err error) *failure {
	f := &failure{code: "unexpected-error", message: err.Error()}
	var (
		changed  *durable.ChangedError
		loosened *durable.LoosenedError
		unknown  *durable.OutcomeUnknownError
		ended    *durable.EndedError
		claimed  *store.ClaimedError
		sequence *store.SequenceError
		approval *engine.ApprovalError
		answer   *durable.AnswerError
		frame    *engine.FrameError
		bad      *checkpoint.Error
	)
	switch {
	case errors.As(err, &changed):
		f.code, f.hint = "machine-changed", "look at what changed; --force resumes all the same, and drops every approval"
	case errors.As(err, &loosened):
		f.code, f.hint = "policy-loosened", "a resume can only tighten; --force loosens, and the run records it"
	case errors.As(err, &unknown):
		f.code, f.hint = "effect-outcome-unknown", "find out whether it happened; --force does it again, and the run records it"
	case errors.As(err, &ended):
		f.code = "already-resumed"
	case errors.As(err, &claimed), errors.As(err, &sequence):
		f.code, f.hint = "already-resumed", "it goes on elsewhere, or went on already; pinfold runs lists the runs"
	case errors.As(err, &approval), errors.As(err, &answer):
		f.code, f.hint = "approval-refused", "pinfold approvals list shows what waits for an answer"
	case errors.As(err, &frame), errors.As(err, &bad):
		f.code = "bad-checkpoint"
	case errors.Is(err, durable.ErrMidTurn), errors.Is(err, store.ErrNotFound), errors.Is(err, fs.ErrNotExist):
		f.code = "invalid-input"
	}
	return f
}

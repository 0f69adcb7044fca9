import type { CriterionResult, Evidence, VerificationState } from './rows.ts';

/** Where a session's branch ends now: undefined without a repository, null when it cannot be read. */
export type Head = string | null | undefined;

export interface Verdict {
  state: VerificationState;
  /** One sentence each; empty for `verified`. */
  reasons: string[];
}

/** Every acceptance criterion with what was said of it, then what was said of others. */
export function withUnreported(
  acceptance: readonly string[],
  reported: readonly CriterionResult[],
): CriterionResult[] {
  const silent = (criterion: string): CriterionResult => ({ criterion, status: 'unreported', note: null });
  const said = new Map(reported.map((each) => [each.criterion, each]));
  return [
    ...acceptance.map((criterion) => said.get(criterion) ?? silent(criterion)),
    ...reported.filter(({ criterion }) => !acceptance.includes(criterion)),
  ];
}

/** Long texts are named by their beginning. */
const named = (text: string): string => (text.length > 200 ? `${text.slice(0, 200)}…` : text);
const short = (commit: string): string => commit.slice(0, 10);

/**
 * What evidence is worth now (R12). `criteria` are all of the task's; a claim of more than that was reported counts as
 * little as one that was never made.
 */
export function judge(
  evidence: Pick<Evidence, 'tests' | 'headCommit' | 'rerun'> | null,
  criteria: readonly CriterionResult[],
  head: Head,
): Verdict {
  if (evidence === null) return { state: 'none', reasons: ['nothing was reported'] };
  const { tests, rerun } = evidence;
  const disagreeing = (rerun?.results ?? [])
    .filter((each) => !each.agrees)
    .map(({ command, exitCode }) => {
      const end = exitCode === null ? 'was ended without an exit code' : `ended with exit code ${exitCode}`;
      return `run again it ${end}, which is not what was reported: ${named(command)}`;
    });
  const missing = [
    ...criteria
      .filter(({ status }) => status !== 'met')
      .map(
        ({ criterion, status }) =>
          `${status === 'not_met' ? 'not met' : 'not reported'}: ${named(criterion)}`,
      ),
    ...tests.filter(({ result }) => result === 'failed').map(({ command }) => `failed: ${named(command)}`),
  ];
  const isEmpty = criteria.length === 0 && !tests.some(({ result }) => result !== 'skipped');
  if (isEmpty) missing.push('neither a criterion nor a test that ran was reported');
  const moved = movedSince(evidence.headCommit, head);
  const reasons = [...disagreeing, ...missing, ...moved];
  if (disagreeing.length > 0) return { state: 'disagrees', reasons };
  if (missing.length > 0) return { state: 'incomplete', reasons };
  return { state: moved.length > 0 ? 'stale' : 'verified', reasons };
}

function movedSince(reported: string | null, head: Head): string[] {
  if (head === undefined || (head !== null && head === reported)) return [];
  if (head === null) return ['where the branch ends cannot be read'];
  return [
    reported === null
      ? `the branch ends at ${short(head)}; it was reported without a commit`
      : `the branch ends at ${short(head)}; it was reported at ${short(reported)}`,
  ];
}

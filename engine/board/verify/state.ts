import type { CriterionResult, Evidence, TestResult, VerificationState } from './rows.ts';

/** Where a session's branch ends now: undefined without a repository, null when it cannot be read. */
export type Head = string | null | undefined;

export interface Verdict {
  state: VerificationState;
  /** A clause each; empty for `verified` only. */
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
const shortened = (text: string): string =>
  text.length > 200 ? `${text.slice(0, 200).toWellFormed()}…` : text;
const short = (commit: string): string => commit.slice(0, 10);

/** Each state in the words of whoever is told of it. */
export const VERIFICATION_WORDS: Readonly<Record<VerificationState, string>> = {
  none: 'nothing was reported',
  reported: "the worker's own word",
  verified: 'svc ran the reported tests again at this commit, and they agree',
  disagrees: 'svc ran the reported tests again, and they do not end as reported',
  stale: 'the branch has moved since',
};

type Judged = Pick<Evidence, 'tests' | 'symbols' | 'headCommit' | 'rerun' | 'rerunState' | 'rerunProblem'>;

/**
 * What evidence is worth now (R12). `criteria` are all of the task's; a claim of more than that was reported counts as
 * little as one that was never made. Only a rerun by svc at `head` itself makes it more than the worker's word.
 */
export function judge(evidence: Judged | null, criteria: readonly CriterionResult[], head: Head): Verdict {
  if (evidence === null) return { state: 'none', reasons: ['nothing was reported'] };
  const { rerun } = evidence;
  const disagreeing = disagreementsIn(rerun);
  const missing = missingIn(evidence, criteria);
  const movedSinceRerun = rerun === null ? [] : movedSince('run again', rerun.head, head);
  const moved = [...movedSince('reported', evidence.headCommit, head), ...movedSinceRerun];
  const reasons = [...disagreeing, ...missing, ...moved, ...notRunAgain(evidence)];
  if (disagreeing.length > 0 && movedSinceRerun.length === 0) return { state: 'disagrees', reasons };
  if (moved.length > 0) return { state: 'stale', reasons };
  return { state: reasons.length === 0 ? 'verified' : 'reported', reasons };
}

const disagreementsIn = (rerun: Judged['rerun']): string[] =>
  (rerun?.results ?? [])
    .filter((each) => !each.agrees)
    .map(({ command, exitCode }) => {
      const end = exitCode === null ? 'was ended without an exit code' : `ended with exit code ${exitCode}`;
      return `run again it ${end}, which is not what was reported: ${shortened(command)}`;
    });

/** What a complete report would have. */
function missingIn({ tests, symbols }: Judged, criteria: readonly CriterionResult[]): string[] {
  const isEmpty = criteria.length === 0 && !tests.some(hasRun);
  return [
    ...criteria
      .filter(({ status }) => status !== 'met')
      .map(
        ({ criterion, status }) =>
          `${status === 'not_met' ? 'not met' : 'not reported'}: ${shortened(criterion)}`,
      ),
    ...tests
      .filter(({ result }) => result === 'failed')
      .map(({ command }) => `failed: ${shortened(command)}`),
    ...symbols
      .filter(({ exists }) => !exists)
      .map(({ path, symbol }) => `missing: ${shortened(symbol === null ? path : `${path} (${symbol})`)}`),
    ...(isEmpty ? ['neither a criterion nor a test that ran was reported'] : []),
  ];
}

/** Whether a test was said to have run. */
export const hasRun = ({ result }: Pick<TestResult, 'result'>): boolean => result !== 'skipped';

/** Why it is the worker's word alone; empty once svc has run the tests again. */
function notRunAgain({ tests, rerun, rerunState, rerunProblem }: Judged): string[] {
  if (rerunState === 'running') return ['svc is running the reported tests again'];
  if (rerunState === 'waiting') return ['svc runs the reported tests again, and has not come to it yet'];
  if (rerun !== null) return [];
  if (!tests.some(hasRun)) return ['no test that ran was reported, and so there is nothing to run again'];
  if (rerunProblem !== null) return [`the tests could not be run again: ${rerunProblem}`];
  return ['svc has not run the reported tests again'];
}

/** Why what was done at a commit says nothing of where the branch ends now; empty when it does. */
function movedSince(done: 'reported' | 'run again', at: string | null, head: Head): string[] {
  if (head === undefined || (head !== null && head === at)) return [];
  if (head === null) return ['where the branch ends cannot be read'];
  return [
    at === null
      ? `the branch ends at ${short(head)}; it was ${done} without a commit`
      : `the branch ends at ${short(head)}; it was ${done} at ${short(at)}`,
  ];
}

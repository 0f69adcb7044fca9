import {
  type CriterionResult,
  type Evidence,
  NOBODY,
  type TestResult,
  type VerificationState,
} from './rows.ts';

/** The current head of a session's branch: undefined without a repository, null if it cannot be read. */
export type BranchHead = string | null | undefined;

export interface VerificationVerdict {
  state: VerificationState;
  /** A clause each; empty for `verified` only. */
  reasons: string[];
}

/** Lists every acceptance criterion with its reported result, then the results for other criteria. */
export function addUnreported(
  acceptance: readonly string[],
  reported: readonly CriterionResult[],
): CriterionResult[] {
  const markUnreported = (criterion: string): CriterionResult => ({
    criterion,
    status: 'unreported',
    note: null,
  });
  const said = new Map(reported.map((each) => [each.criterion, each]));
  return [
    ...acceptance.map((criterion) => said.get(criterion) ?? markUnreported(criterion)),
    ...reported.filter(({ criterion }) => !acceptance.includes(criterion)),
  ];
}

/** Cuts a text to 200 characters. */
const shortenText = (text: string): string =>
  text.length > 200 ? `${text.slice(0, 200).toWellFormed()}…` : text;
const shortenCommit = (commit: string): string => commit.slice(0, 10);

/** The meaning of each state, for messages. */
export const VERIFICATION_WORDS: Readonly<Record<VerificationState, string>> = {
  none: 'nothing was reported',
  reported: 'by the worker only',
  verified: 'svc reran the tests at this commit, and they ended as expected',
  disagrees: 'svc reran the tests, and they did not end as expected',
  stale: 'the branch has moved since then',
};

type Judged = Pick<
  Evidence,
  'tests' | 'symbols' | 'headCommit' | 'reportedBy' | 'rerun' | 'rerunState' | 'rerunProblem'
>;

/**
 * Judges evidence (R12) against all `criteria` of the task. Only a rerun by svc at `head` itself makes it more than the
 * worker's word.
 */
export function judgeEvidence(
  evidence: Judged | null,
  criteria: readonly CriterionResult[],
  head: BranchHead,
): VerificationVerdict {
  if (evidence === null) return { state: 'none', reasons: ['nothing was reported'] };
  const { rerun } = evidence;
  const disagreeing = listDisagreements(rerun);
  const missing = listEvidenceGaps(evidence, criteria);
  const movedSinceRerun = rerun === null ? [] : explainMove('run again', rerun.head, head);
  const moved = [...explainMove('reported', evidence.headCommit, head), ...movedSinceRerun];
  const reasons = [...disagreeing, ...missing, ...moved, ...explainNoRerun(evidence)];
  if (disagreeing.length > 0 && movedSinceRerun.length === 0) return { state: 'disagrees', reasons };
  if (moved.length > 0) return { state: 'stale', reasons };
  const word = evidence.reportedBy === NOBODY ? 'none' : 'reported';
  return { state: reasons.length === 0 ? 'verified' : word, reasons };
}

const listDisagreements = (rerun: Judged['rerun']): string[] =>
  (rerun?.results ?? [])
    .filter((each) => !each.agrees)
    .map(({ command, exitCode, isCheck }) => {
      const end = exitCode === null ? 'was ended without an exit code' : `ended with exit code ${exitCode}`;
      if (isCheck === true) return `the repository's own check ${end}: ${shortenText(command)}`;
      return `the rerun ${end}, unlike the report: ${shortenText(command)}`;
    });

/** Lists the gaps of an incomplete report. */
function listEvidenceGaps({ tests, symbols, rerun }: Judged, criteria: readonly CriterionResult[]): string[] {
  const isChecked = rerun?.results.some(({ isCheck }) => isCheck === true) ?? false;
  const isEmpty = criteria.length === 0 && !tests.some(hasRun) && !isChecked;
  return [
    ...criteria
      .filter(({ status }) => status !== 'met')
      .map(
        ({ criterion, status }) =>
          `${status === 'not_met' ? 'not met' : 'not reported'}: ${shortenText(criterion)}`,
      ),
    ...tests
      .filter(({ result }) => result === 'failed')
      .map(({ command }) => `failed: ${shortenText(command)}`),
    ...symbols
      .filter(({ exists }) => !exists)
      .map(({ path, symbol }) => `missing: ${shortenText(symbol === null ? path : `${path} (${symbol})`)}`),
    ...(isEmpty ? ['neither a criterion nor an executed test was reported'] : []),
  ];
}

/** Reports whether a test is reported to have run. */
export const hasRun = ({ result }: Pick<TestResult, 'result'>): boolean => result !== 'skipped';

/**
 * Lists what a rerun runs, in order: the reported tests that ran, then the repository's own checks, without those
 * reported as passed.
 */
export function selectRerunCommands<T extends Pick<TestResult, 'command' | 'result'>>(
  reported: readonly T[],
  ownChecks: readonly string[],
): { tests: T[]; checks: string[] } {
  const tests = reported.filter(hasRun);
  const hasPassed = new Set(tests.flatMap(({ command, result }) => (result === 'passed' ? [command] : [])));
  return { tests, checks: ownChecks.filter((command) => !hasPassed.has(command)) };
}

/** Explains why there is only the worker's report; empty once svc has rerun the tests. */
function explainNoRerun({ tests, rerun, rerunState, rerunProblem }: Judged): string[] {
  if (rerunState === 'running') return ['svc is rerunning the reported tests'];
  if (rerunState === 'waiting') return ['svc will rerun the reported tests, but has not started yet'];
  if (rerun !== null) return [];
  if (rerunProblem !== null) return [`the tests could not be rerun: ${rerunProblem}`];
  if (!tests.some(hasRun)) return ['no executed test was reported, so there is nothing to rerun'];
  return ['svc has not rerun the reported tests'];
}

/** Explains why a report or rerun at a commit does not cover the branch's current head; empty if it does. */
function explainMove(done: 'reported' | 'run again', at: string | null, head: BranchHead): string[] {
  if (head === undefined || (head !== null && head === at)) return [];
  if (head === null) return ['the end of the branch cannot be read'];
  return [
    at === null
      ? `the branch ends at ${shortenCommit(head)}; it was ${done} without a commit`
      : `the branch ends at ${shortenCommit(head)}; it was ${done} at ${shortenCommit(at)}`,
  ];
}

import { formatCount } from '../../engine/core/base/text.ts';
import { VERIFICATION_WORDS } from '../../engine/index.ts';
import type { ListedEvidence, ListedWork } from '../state/rows.ts';
import { cleanText, renderFacts, splitCleanLines, wrapText } from '../text/text.ts';
import { type StyledLine, span, type TextStyle } from '../text/theme.ts';
import { renderHeading, renderQuote } from './lines.ts';
import { formatTimeSince } from './time.ts';

type Fact = readonly [name: string, text: string, style: TextStyle];

const RERUN_WORDS = {
  running: ' · its tests are being rerun',
  waiting: ' · its tests wait to be rerun',
} as const;

const describeVerification = (
  state: ListedEvidence['state'],
  { rerun_state: rerun }: ListedEvidence,
): string => {
  const words = `${state === 'none' ? '' : `${state}: `}${VERIFICATION_WORDS[state]}`;
  if (state === 'verified') return words;
  return `not verified · ${words}${rerun === null ? '' : RERUN_WORDS[rerun]}`;
};

/** Signs, with the words next to them. */
const SIGNS: Readonly<Record<string, readonly [sign: string, word: string, style: TextStyle]>> = {
  met: ['✓', 'met', 'good'],
  not_met: ['✗', 'not met', 'bad'],
  unreported: ['?', 'unreported', 'warn'],
  passed: ['✓', 'passed', 'good'],
  failed: ['✗', 'failed', 'bad'],
  skipped: ['-', 'skipped', 'warn'],
  check: ['·', 'check', 'dim'],
};

/** Returns the state of evidence for a commit. A rerun of another commit makes it stale. */
export const getStateAtHead = (
  { state, rerun }: ListedEvidence,
  head: string | null,
): ListedEvidence['state'] =>
  state === 'verified' && head !== null && head !== rerun?.head ? 'stale' : state;

/** Returns the commit that would be promoted; null if it is unknown. */
export const getTrialHead = (work: ListedWork | null | undefined): string | null =>
  work && !('problem' in work.trial) ? work.trial.head : null;

/** Summarizes the report in one line: `3 passed, acceptance 2 of 2 met`. */
function summarizeReport({ tests, criteria }: ListedEvidence): string {
  const results = listResults(tests);
  return [
    ...(results.length === 0 ? ['no tests'] : results),
    criteria.length === 0 ? 'no acceptance criteria' : summarizeCriteria(criteria),
  ].join(', ');
}

const summarizeCriteria = (criteria: ListedEvidence['criteria']): string =>
  `acceptance ${criteria.filter((each) => each.status === 'met').length} of ${criteria.length} met`;

/** Counts tests by result, such as `2 passed` and `1 failed`. */
const listResults = (tests: ListedEvidence['tests']): string[] =>
  ['passed', 'failed', 'skipped'].flatMap((result) => {
    const count = tests.filter((each) => each.result === result).length;
    return count === 0 ? [] : [`${count} ${result}`];
  });

/** Summarizes the evidence in one line, and whether it is enough for a merge. */
function summarizeEvidence(evidence: ListedEvidence, head: string | null): { text: string; isGood: boolean } {
  const state = getStateAtHead(evidence, head);
  const report = state === 'none' ? '' : `verify_report: ${summarizeReport(evidence)} · `;
  return { text: `${report}${describeVerification(state, evidence)}`, isGood: state === 'verified' };
}

/** Explains why the evidence is not enough for a merge; null if it is verified. `V` reruns the reported tests. */
export function explainDoubt(evidence: ListedEvidence, head: string | null): string | null {
  const state = getStateAtHead(evidence, head);
  if (state === 'verified') return null;
  const { tests, criteria, rerun, rerun_state: rerunState } = evidence;
  if (state !== 'reported' || rerun !== null || rerunState !== null || tests.length === 0)
    return summarizeEvidence(evidence, head)
      .text.replace(/^verify_report: /, '')
      .replace(/not verified · /, '');
  const [first = '', ...others] = listResults(tests);
  const results = [first.replace(' ', tests.length === 1 ? ' test ' : ' tests '), ...others].join(', ');
  const met = criteria.length === 0 ? '' : `, ${summarizeCriteria(criteria)}`;
  return `the worker says ${results}${met}; svc has not rerun ${tests.length === 1 ? 'it' : 'them'} (V)`;
}

function renderSignedLines(status: string, text: string, note: string | null, cells: number): StyledLine[] {
  const [sign, word, style] = SIGNS[status] ?? ['?', status, 'warn' as const];
  const said = cleanText(note === null || note === '' ? text : `${text} (${note})`);
  return wrapText(said, Math.max(8, cells - 13)).map((part, index) => [
    span(index === 0 ? `${sign} ${word.padEnd(11)}` : ' '.repeat(13), style),
    span(part),
  ]);
}

/**
 * Renders all of the evidence: criteria, tests, doubts and the rerun. `commands` counts the lines down to the last
 * reported command.
 */
export function renderEvidenceLines(
  evidence: ListedEvidence,
  now: number,
  cells: number,
  lead: readonly Fact[] = [],
): { lines: StyledLine[]; commands: number } {
  const { criteria, tests, symbols, reasons, rerun, checks } = evidence;
  const missing = symbols.filter((each) => !each.exists);
  const reported = [
    ...renderFacts(
      [
        ...lead,
        [
          'reported',
          evidence.reported_at === null
            ? null
            : `${formatTimeSince(evidence.reported_at, now)} by ${evidence.reported_by ?? evidence.session_id}`,
        ],
        ['said', evidence.summary],
        // The line of the tests already contains this.
        ...reasons
          .filter((reason) => reason !== VERIFICATION_WORDS.none)
          .map((reason) => ['because', reason, 'warn'] as const),
      ],
      cells,
    ),
    ...criteria.flatMap(({ status, criterion, note }) => renderSignedLines(status, criterion, note, cells)),
    ...tests.flatMap(({ result, command, note }) => renderSignedLines(result, command, note, cells)),
    ...checks.flatMap((command) => renderSignedLines('check', command, null, cells)),
  ];
  const lines = [
    ...reported,
    ...missing.flatMap(({ path, symbol }): StyledLine[] => [
      [span('✗ missing    ', 'bad'), span(cleanText([path, symbol].filter(Boolean).join(' ')))],
    ]),
    ...(rerun === null ? [] : renderRerunLines(rerun, now, cells)),
  ];
  return { lines, commands: reported.length };
}

function renderRerunLines(
  rerun: NonNullable<ListedEvidence['rerun']>,
  now: number,
  cells: number,
): StyledLine[] {
  const agrees = rerun.agrees ? 'agrees' : 'DISAGREES';
  return [
    renderHeading(
      `rerun ${formatTimeSince(rerun.at, now)} by ${cleanText(rerun.by)}${rerun.on === null ? '' : ` on ${cleanText(rerun.on)}`} at ${rerun.head?.slice(0, 10) ?? 'an unknown commit'}: ${agrees} with the report`,
    ),
    ...rerun.results.flatMap(({ command, exit_code: code, agrees: same, output }): StyledLine[] => [
      [
        span(`${same ? '✓ matches' : '✗ differs'}`.padEnd(13), same ? 'good' : 'bad'),
        span(`${cleanText(command)} ${code === null ? 'was stopped' : `ended with ${code}`}`),
      ],
      ...(same ? [] : renderQuote(splitCleanLines(output.trimEnd()), cells)),
    ]),
  ];
}

/** Returns the summary as an entry for a list of facts. */
export const createEvidenceFact = (evidence: ListedEvidence, head: string | null): Fact => {
  const { text, isGood } = summarizeEvidence(evidence, head);
  return ['tests', text, isGood ? 'good' : 'warn'];
};

export const describeLocksOf = (
  locks: readonly { path: string; holder: string }[],
  session: string | null,
): string | null => {
  const held = locks.filter((each) => each.holder === session).map((each) => each.path);
  return held.length === 0 ? null : `${formatCount(held.length, 'lock')}: ${held.join(', ')}`;
};

import { formatCount, VERIFICATION_WORDS } from '../../engine/index.ts';
import type { Evidence, Work } from '../state/model.ts';
import { clean, cleanLines, factLines, wrap } from '../text.ts';
import { type Line, type Style, span } from '../theme.ts';
import { heading, quoted, since } from './words.ts';

type Fact = readonly [name: string, text: string, style: Style];

const RERUN_WORDS = {
  running: ' · its tests are being run again',
  waiting: ' · its tests wait to be run again',
} as const;

const stateWords = (state: Evidence['state'], { rerun_state: rerun }: Evidence): string => {
  const words = `${state === 'none' ? '' : `${state}: `}${VERIFICATION_WORDS[state]}`;
  if (state === 'verified') return words;
  return `not verified · ${words}${rerun === null ? '' : RERUN_WORDS[rerun]}`;
};

/** Words that stand beside their signs. */
const SIGNS: Readonly<Record<string, readonly [sign: string, word: string, style: Style]>> = {
  met: ['✓', 'met', 'good'],
  not_met: ['✗', 'not met', 'bad'],
  unreported: ['?', 'unreported', 'warn'],
  passed: ['✓', 'passed', 'good'],
  failed: ['✗', 'failed', 'bad'],
  skipped: ['-', 'skipped', 'warn'],
};

/** A rerun is of a commit: with another one at the end of the branch it is of something else. */
export const stateAt = ({ state, rerun }: Evidence, head: string | null): Evidence['state'] =>
  state === 'verified' && head !== null && head !== rerun?.head ? 'stale' : state;

/** The commit that would be promoted, as far as it is known. */
export const headOf = (work: Work | null | undefined): string | null =>
  work && !('problem' in work.trial) ? work.trial.head : null;

/** What was reported, in one line: `3 passed, acceptance 2 of 2 met`. */
function reportOf({ tests, criteria }: Evidence): string {
  const count = (result: string): number => tests.filter((each) => each.result === result).length;
  const results = ['passed', 'failed', 'skipped']
    .filter((result) => count(result) > 0)
    .map((result) => `${count(result)} ${result}`);
  const met = criteria.filter((each) => each.status === 'met').length;
  return [
    ...(results.length === 0 ? ['no tests'] : results),
    criteria.length === 0 ? 'no acceptance criteria' : `acceptance ${met} of ${criteria.length} met`,
  ].join(', ');
}

/** What is known of a session's work, and whether that is enough. */
export function evidenceSummary(evidence: Evidence, head: string | null): { text: string; isGood: boolean } {
  const state = stateAt(evidence, head);
  const report = state === 'none' ? '' : `verify_report: ${reportOf(evidence)} · `;
  return { text: `${report}${stateWords(state, evidence)}`, isGood: state === 'verified' };
}

function signed(status: string, text: string, note: string | null, cells: number): Line[] {
  const [sign, word, style] = SIGNS[status] ?? ['?', status, 'warn' as const];
  const said = clean(note === null || note === '' ? text : `${text} (${note})`);
  return wrap(said, Math.max(8, cells - 13)).map((part, index) => [
    span(index === 0 ? `${sign} ${word.padEnd(11)}` : ' '.repeat(13), style),
    span(part),
  ]);
}

/**
 * All of the evidence: each criterion, each test, what speaks against it, and what
 * a rerun has shown. `commands` is how many of the lines there are up to the last command.
 */
export function evidenceLines(
  evidence: Evidence,
  now: number,
  cells: number,
  lead: readonly Fact[] = [],
): { lines: Line[]; commands: number } {
  const { criteria, tests, symbols, reasons, rerun } = evidence;
  const missing = symbols.filter((each) => !each.exists);
  const reported = [
    ...factLines(
      [
        ...lead,
        [
          'reported',
          evidence.reported_at === null
            ? null
            : `${since(evidence.reported_at, now)} by ${evidence.reported_by ?? evidence.session_id}`,
        ],
        ['said', evidence.summary],
        ...reasons.map((reason) => ['because', reason, 'warn'] as const),
      ],
      cells,
    ),
    ...criteria.flatMap(({ status, criterion, note }) => signed(status, criterion, note, cells)),
    ...tests.flatMap(({ result, command, note }) => signed(result, command, note, cells)),
  ];
  const lines = [
    ...reported,
    ...missing.flatMap(({ path, symbol }): Line[] => [
      [span('✗ missing    ', 'bad'), span(clean([path, symbol].filter(Boolean).join(' ')))],
    ]),
    ...(rerun === null ? [] : rerunLines(rerun, now, cells)),
  ];
  return { lines, commands: reported.length };
}

function rerunLines(rerun: NonNullable<Evidence['rerun']>, now: number, cells: number): Line[] {
  const agrees = rerun.agrees ? 'agrees' : 'DISAGREES';
  return [
    heading(
      `run again ${since(rerun.at, now)} by ${clean(rerun.by)} at ${rerun.head?.slice(0, 10) ?? 'a commit that is not known'}: ${agrees} with the report`,
    ),
    ...rerun.results.flatMap(({ command, exit_code: code, agrees: same, output }): Line[] => [
      [
        span(`${same ? '✓ as said' : '✗ other'}`.padEnd(13), same ? 'good' : 'bad'),
        span(`${clean(command)} ${code === null ? 'was stopped' : `ended with ${code}`}`),
      ],
      ...(same ? [] : quoted(cleanLines(output.trimEnd()), cells)),
    ]),
  ];
}

/** One line for a list of facts. */
export const evidenceFact = (evidence: Evidence, head: string | null): Fact => {
  const { text, isGood } = evidenceSummary(evidence, head);
  return ['tests', text, isGood ? 'good' : 'warn'];
};

export const lockedBy = (
  locks: readonly { path: string; holder: string }[],
  session: string | null,
): string | null => {
  const held = locks.filter((each) => each.holder === session).map((each) => each.path);
  return held.length === 0 ? null : `${formatCount(held.length, 'lock')}: ${held.join(', ')}`;
};

import { nameSessionState, type PromoteStrategy } from '../../engine/index.ts';
import { checkCanWin, describePromotion, promoteRacer } from '../actions/races.ts';
import { type StateTransition, showMessage, transitionTo } from '../actions/transition.ts';
import { TOO_FAST_MS } from '../keymap/run-binding.ts';
import { getLayout, PREVIEW_EDGE } from '../layout/layout.ts';
import { getPatchRows, renderPatchRow } from '../panes/patch-lines.ts';
import { formatSessionCost, formatSessionTokens } from '../panes/run-facts.ts';
import { getStateStyle } from '../panes/states.ts';
import { formatLineCounts, formatRunTime } from '../panes/work-columns.ts';
import { findDetail } from '../state/details.ts';
import type { State } from '../state/model.ts';
import type { CompareRace } from '../state/overlays.ts';
import { findRace, type RacerRow } from '../state/races.ts';
import type { ListedWork } from '../state/rows.ts';
import { cleanText, padText, truncateText, wrapText } from '../text/text.ts';
import { type StyledLine, span } from '../text/theme.ts';

const findWork = (state: State, { session_id: id }: Pick<RacerRow, 'session_id'>): ListedWork | null =>
  findDetail(state, 'work', id)?.detail ?? null;

/** Lists every file that a session has changed, as far as their diffs are known. */
function listPaths(state: State, racers: readonly RacerRow[]): string[] {
  const paths = racers.flatMap((each) => findWork(state, each)?.files.map(({ path }) => path) ?? []);
  return [...new Set(paths)].sort();
}

/** Returns the shown file: the chosen one for all sessions, otherwise the first. */
function choosePath(state: State, { path }: CompareRace, racers: readonly RacerRow[]): string | null {
  return path ?? listPaths(state, racers)[0] ?? null;
}

/** The diff of one file in one session. */
function listFileLines(state: State, racer: RacerRow | undefined, path: string | null): StyledLine[] {
  if (racer === undefined) return [];
  if (racer.state !== 'ended') return [[span(`${racer.session_id} is still ${racer.state}`, 'dim')]];
  if (racer.branch_state === 'discarded')
    return [[span(`${racer.session_id} is discarded; U brings it back`, 'dim')]];
  const loaded = findDetail(state, 'work', racer.session_id);
  if (!loaded?.detail) return [[span(loaded?.problem ?? 'the diff is being fetched', 'dim')]];
  if (path === null) return [[span(`${racer.session_id} changed nothing`, 'dim')]];
  const rows = getPatchRows(loaded.detail).filter((row) => row.path === path || row.oldPath === path);
  const isCut = loaded.detail.patch.truncated;
  if (rows.length === 0)
    return [
      [
        span(
          isCut
            ? `the patch continues: svc diff ${racer.session_id} shows all of it`
            : `${racer.session_id} does not change this file`,
          'dim',
        ),
      ],
    ];
  return rows.map(renderPatchRow);
}

const describeRacerState = (state: State, racer: RacerRow, winner: string | null): string =>
  racer.session_id === winner ? 'promoted' : nameSessionState(racer, state.now);

function describeEvidence({ evidence: { state, rerun, rerun_state: under } }: RacerRow): string {
  if (under !== null) return under === 'running' ? 'rerunning' : 'rerun waits';
  return rerun === null ? state : `${state} ${rerun.agree}/${rerun.ran}`;
}

/** Renders one line of a session. A narrow screen cuts it from the right. */
function renderRacer(
  state: State,
  racer: RacerRow,
  at: number,
  isShown: boolean,
  winner: string | null,
): StyledLine {
  const told = describeRacerState(state, racer, winner);
  const parts: StyledLine = [
    span(
      `${isShown ? '▶' : ' '}${at + 1} ${padText(racer.session_id, 5)} ${padText(cleanText(racer.agent), 9)} `,
    ),
    span(padText(told, 9), getStateStyle(told)),
    span(` ${padText(describeEvidence(racer), 12)} `, getStateStyle(racer.evidence.state)),
    span(padText(String(racer.files ?? racer.committed?.files ?? '-'), 4, 'right')),
    span(padText(formatLineCounts(racer), 10, 'right')),
    span(padText(formatSessionTokens(racer) || '-', 7, 'right')),
    span(padText(formatSessionCost(racer), 8, 'right')),
    span(padText(formatRunTime(racer, state), 5, 'right')),
  ];
  return isShown ? parts.map(({ text }) => span(text, 'strong')) : parts;
}

const HEAD = `   ${padText('id', 5)} ${padText('agent', 9)} ${padText('state', 9)} ${padText('evidence', 12)} ${padText('file', 4, 'right')}${padText('+/-', 10, 'right')}${padText('tokens', 7, 'right')}${padText('cost', 8, 'right')}${padText('time', 5, 'right')}`;

/** Renders the lines above the diff, and the diff. */
function renderParts(
  state: State,
  overlay: CompareRace,
  cells: number,
): { above: StyledLine[]; diff: StyledLine[] } {
  const found = findRace(state, overlay.task);
  const loaded = findDetail(state, 'race', overlay.task);
  if (found === null)
    return { above: [[span(loaded?.problem ?? 'the race is being fetched', 'dim')]], diff: [] };
  const { race, racers } = found;
  const paths = listPaths(state, racers);
  const path = choosePath(state, overlay, racers);
  const racer = racers[overlay.index];
  const question =
    overlay.askedAt === null
      ? []
      : wrapText(describePromotion(state, overlay), cells).map(
          (part): StyledLine => [span(part, 'question')],
        );
  const file =
    path === null
      ? ''
      : `${racer?.session_id} ${cleanText(path)}  (file ${Math.max(1, paths.indexOf(path) + 1)} of ${Math.max(1, paths.length)})`;
  return {
    above: [
      ...question,
      [span(HEAD, 'dim')],
      ...racers.map((each, at) => renderRacer(state, each, at, at === overlay.index, race.winner)),
      [],
      [span(truncateText(file, cells), 'strong')],
    ],
    diff: listFileLines(state, racer, path),
  };
}

const STRATEGY_OF_KEY: Readonly<Record<string, PromoteStrategy>> = { m: 'merge', b: 'rebase', s: 'squash' };

export function handleCompareKey(
  state: State,
  overlay: CompareRace,
  key: string,
  at: number,
): StateTransition {
  const changeComparison = (more: Partial<CompareRace>): StateTransition =>
    transitionTo({ ...state, overlay: { ...overlay, ...more } });
  if (overlay.askedAt !== null) {
    const strategy = STRATEGY_OF_KEY[key];
    if (strategy === undefined) return changeComparison({ askedAt: null });
    return at - overlay.askedAt < TOO_FAST_MS
      ? changeComparison({ askedAt: at })
      : promoteRacer(state, overlay, strategy);
  }
  const racers = findRace(state, overlay.task)?.racers ?? [];
  const paths = listPaths(state, racers);
  const cells = state.size.columns - 4;
  const { above, diff } = renderParts(state, overlay, cells);
  const page = Math.max(1, getLayout(state).body - PREVIEW_EDGE - above.length);
  const last = Math.max(0, diff.length - page);
  const scroll = (by: number): StateTransition =>
    changeComparison({ top: Math.max(0, Math.min(Math.min(overlay.top, last) + by, last)) });
  const showFile = (by: number): StateTransition => {
    const now = paths.indexOf(choosePath(state, overlay, racers) ?? '');
    const next = paths[Math.max(0, Math.min(now + by, paths.length - 1))];
    return next === undefined ? transitionTo(state) : changeComparison({ path: next, top: 0 });
  };
  // Another session at the same position: the file and the scroll stay.
  const showRacer = (index: number): StateTransition =>
    racers[index] === undefined
      ? transitionTo(state)
      : changeComparison({ index, path: choosePath(state, overlay, racers) });
  if (/^[1-9]$/.test(key)) return showRacer(Number(key) - 1);
  switch (key) {
    case 'esc':
    case 'q':
      return transitionTo({ ...state, overlay: null });
    case 'tab':
    case 'right':
    case 'l':
      return showRacer((overlay.index + 1) % Math.max(1, racers.length));
    case 'shift+tab':
    case 'left':
    case 'h':
      return showRacer((overlay.index + racers.length - 1) % Math.max(1, racers.length));
    case 'j':
    case 'down':
      return scroll(1);
    case 'k':
    case 'up':
      return scroll(-1);
    case 'space':
    case 'pagedown':
      return scroll(page);
    case 'pageup':
      return scroll(-page);
    case '}':
    case 'n':
      return showFile(1);
    case '{':
    case 'N':
      return showFile(-1);
    case 'p': {
      const reason = checkCanWin(state, overlay);
      return reason === null
        ? changeComparison({ askedAt: at })
        : transitionTo(showMessage(state, `promote: ${reason}`));
    }
    default:
      return transitionTo(state);
  }
}

/** Handles keys that arrive together, which only move. */
export const MOVES_IN_COMPARE =
  /^(?:[1-9jknNhl{}]|up|down|left|right|space|tab|shift\+tab|pageup|pagedown|esc)$/;

export function renderCompare(
  state: State,
  overlay: CompareRace,
  { cells, rows }: { cells: number; rows: number },
): { title: string; note?: string; lines: StyledLine[]; keys: string } {
  const { above, diff } = renderParts(state, overlay, cells);
  const page = Math.max(1, rows - above.length);
  const top = Math.max(0, Math.min(overlay.top, diff.length - page));
  const below = diff.length - top - page;
  return {
    title: `Race of ${overlay.task}`,
    ...(below > 0 ? { note: `▼ ${below} more` } : {}),
    lines: [...above, ...diff.slice(top, top + page)],
    keys:
      overlay.askedAt === null
        ? 'Tab 1-9 session  n N file  j k scroll  p promote  Esc close'
        : 'm merge  b rebase  s squash  Esc cancel',
  };
}

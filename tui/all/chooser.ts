import { toLatinKey } from '../keymap/latin-keys.ts';
import { countLive } from '../layout/layout.ts';
import type { EngineLink, State } from '../state/model.ts';
import { clampNumber, rotateIndex } from '../state/numbers.ts';
import { listUrgentItems } from '../state/work-items.ts';
import { measureCells } from '../text/cells.ts';
import { makeDrawable, padText, truncateText } from '../text/text.ts';
import { type StyledLine, span } from '../text/theme.ts';
import type { AllState, WorkspaceMember } from './state.ts';
import { activate } from './steps.ts';

// Chooses one of the workspaces, which is then shown alone.

/** Keys that a burst may use here too. */
const MOVES: Readonly<Record<string, number>> = { j: 1, down: 1, 'ctrl+n': 1, k: -1, up: -1, 'ctrl+p': -1 };

export const handleChooserKeys = (all: AllState, keys: readonly string[]): AllState =>
  keys.reduce((sofar, key) => handleChooserKey(sofar, toLatinKey(key), keys.length > 1), all);

function handleChooserKey(all: AllState, key: string, isBurst: boolean): AllState {
  const { chooser, members } = all;
  if (chooser === null) return all;
  const by = MOVES[key];
  if (by !== undefined) return { ...all, chooser: rotateIndex(chooser, by, members.length) };
  if (isBurst) return all;
  if (key === 'esc' || key === 'q' || key === 'W') return { ...all, chooser: null };
  if (key === 'g' || key === 'home') return { ...all, chooser: 0 };
  if (key === 'G' || key === 'end') return { ...all, chooser: members.length - 1 };
  return key === 'enter' ? showAlone(all, members[chooser]!) : all;
}

function showAlone(all: AllState, { file }: WorkspaceMember): AllState {
  const focus = all.members.find((each) => each.file === all.active)!.state.focus;
  return { ...activate(all, file, focus), isAlone: true, chooser: null };
}

/** The known state of a workspace's engine. */
export const ENGINE_WORDS: Readonly<Record<EngineLink['phase'], string>> = {
  live: 'running',
  connecting: 'connecting',
  lost: 'stopped',
};

const HEADS = ['workspace', 'engine', 'waits', 'live', 'folder'] as const;

const describeMember = ({ label, root, state }: WorkspaceMember): string[] => {
  const isKnown = state.link.phase !== 'connecting';
  return [
    label,
    ENGINE_WORDS[state.link.phase],
    isKnown ? String(listUrgentItems(state.data).length) : '-',
    isKnown ? String(countLive(state.data)) : '-',
    root,
  ];
};

/** Renders the workspaces as lines, with the chosen one. */
export function renderChooser(
  { members, chooser }: AllState,
  { cells, rows }: { cells: number; rows: number },
): StyledLine[] {
  const table = members.map((each) => describeMember(each).map(makeDrawable));
  const widths = HEADS.map((head, column) =>
    Math.min(24, Math.max(head.length, ...table.map((row) => measureCells(row[column]!)))),
  );
  const layOut = (row: readonly string[]): string =>
    row
      .map((cell, column) => (column === HEADS.length - 1 ? cell : padText(cell, widths[column]!)))
      .join('  ');
  const room = Math.max(1, rows - 1);
  const at = chooser ?? 0;
  const top = clampNumber(at - room + 1, 0, Math.max(0, table.length - room));
  return [
    [span(` ${layOut(HEADS)}`, 'dim')],
    ...table.slice(top, top + room).map((row, index): StyledLine => {
      const isChosen = top + index === at;
      const text = truncateText(`${isChosen ? '▶' : ' '}${layOut(row)}`, cells);
      const filled = text + ' '.repeat(Math.max(0, cells - measureCells(text)));
      return [
        isChosen
          ? span(filled, 'selected')
          : span(text, isAway(members[top + index]!.state) ? 'dim' : undefined),
      ];
    }),
  ];
}

const isAway = ({ link }: State): boolean => link.phase === 'lost';

export const CHOOSER_KEYS = '↑ ↓ choose  Enter show it alone  Esc close';

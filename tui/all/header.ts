import { formatCount } from '../../engine/core/base/text.ts';
import { countLive } from '../layout/layout.ts';
import { alignEnds } from '../panes/lines.ts';
import { measureCells } from '../text/cells.ts';
import { makeDrawable, truncateText } from '../text/text.ts';
import { type StyledLine, span } from '../text/theme.ts';
import type { AllState } from './state.ts';
import { getActive } from './state.ts';
import { listAllWaiting } from './steps.ts';

/** Counts the pending items of all workspaces, for the terminal title. */
export function describeAllWaiting({ members }: AllState): string {
  const { length } = listAllWaiting(members);
  const waits = length === 0 ? 'nothing waits' : formatCount(length, 'waits', 'wait');
  return `svc: ${waits} in ${formatCount(members.length, 'workspace')}`;
}

/** Renders the number of workspaces and the selected one at the left, the number of running engines at the right. */
export function renderAllHeaderLine(all: AllState): StyledLine {
  const { label, state } = getActive(all);
  const { columns } = state.size;
  const count = (phase: string): number =>
    all.members.filter((each) => each.state.link.phase === phase).length;
  const live = all.members.reduce((sum, each) => sum + countLive(each.state.data), 0);
  const [stopped, connecting] = [count('lost'), count('connecting')];
  const parts = [
    `${formatCount(count('live'), 'engine')} ok`,
    ...(stopped === 0 ? [] : [`${stopped} stopped`]),
    ...(connecting === 0 ? [] : [`${connecting} connecting`]),
    `${live} live`,
    `${listAllWaiting(all.members).length} waiting`,
  ];
  const right = `${parts.join(' · ')} `;
  const left = ` svc · ${formatCount(all.members.length, 'workspace')} (W) · ${makeDrawable(label)}`;
  const shown = truncateText(left, Math.max(8, columns - measureCells(right) - 1));
  const text = truncateText(alignEnds(shown, right, columns), columns);
  return [
    span(text.slice(0, shown.length), 'title'),
    span(text.slice(shown.length), stopped > 0 ? 'bad' : undefined),
  ];
}

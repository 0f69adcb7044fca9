import { formatCount } from '../../engine/core/base/text.ts';
import { renderHeader } from '../frame/header.ts';
import { countLive } from '../layout/layout.ts';
import { makeDrawable } from '../text/text.ts';
import type { StyledLine } from '../text/theme.ts';
import type { AllState } from './state.ts';
import { getActive } from './state.ts';
import { listAllUrgent } from './steps.ts';

/** Counts the pending items of all workspaces, for the terminal title. */
export function describeAllWaiting({ members }: AllState): string {
  const { length } = listAllUrgent(members);
  const waits = length === 0 ? 'nothing waits' : formatCount(length, 'waits', 'wait');
  return `svc: ${waits} in ${formatCount(members.length, 'workspace')}`;
}

/** Renders the number of workspaces and the selected one at the left, the number of running engines at the right. */
export function renderAllHeaderLine(all: AllState): StyledLine {
  const { label, state } = getActive(all);
  const count = (phase: string): number =>
    all.members.filter((each) => each.state.link.phase === phase).length;
  const live = all.members.reduce((sum, each) => sum + countLive(each.state.data), 0);
  const [stopped, connecting] = [count('lost'), count('connecting')];
  const facts = [
    `${formatCount(count('live'), 'engine')} ok`,
    ...(stopped === 0 ? [] : [`${stopped} stopped`]),
    ...(connecting === 0 ? [] : [`${connecting} connecting`]),
    `${live} live`,
  ];
  const name = ` svc · ${formatCount(all.members.length, 'workspace')} (W) · ${makeDrawable(label)}`;
  const { length } = listAllUrgent(all.members);
  const urgent = length === 0 ? '' : formatCount(length, 'needs you', 'need you');
  return renderHeader([name, urgent], facts, state.size.columns, stopped > 0);
}

import { formatCount } from '../../engine/core/base/text.ts';
import type { PaneId } from '../pane-ids.ts';
import type { State } from '../state/model.ts';
import { parseIdNumber } from '../state/numbers.ts';
import type { ShownDecision } from '../state/rows.ts';
import { makeDrawable } from '../text/text.ts';
import { describeAsker, listOpenAsks } from './asks.ts';
import { getPane } from './index.ts';
import { formatTimeLeft } from './time.ts';
import { isWaitingForReview } from './workers.ts';

/** An item that waits for a person. */
export interface WaitingRow {
  pane: PaneId;
  id: string;
  since: string;
  /** One line. */
  text: string;
}

/** Lists everything that waits for a person: decisions first, then asks, then work to review. */
export function listWaiting(state: State): WaitingRow[] {
  const decisions = getPane('decisions').listRows(state.data) as readonly ShownDecision[];
  const sessions = [...state.data.sessions.values()].filter(isWaitingForReview);
  return [
    ...decisions.map((each) => ({
      pane: 'decisions' as const,
      id: each.decision_id,
      since: each.created_at,
      text: `${each.decision_id} ${each.title}`,
    })),
    ...listOpenAsks(state.data).map((each) => ({
      pane: 'asks' as const,
      id: String(each.id),
      since: each.created_at,
      text: `ask ${each.id} ${describeAsker(each, state)}, ${formatTimeLeft(each.expires_at, state.now)} left: ${each.question}`,
    })),
    ...sessions
      .sort((one, other) => parseIdNumber(one.session_id) - parseIdNumber(other.session_id))
      .map((each) => ({
        pane: 'workers' as const,
        id: each.session_id,
        since: each.ended_at ?? each.created_at,
        text: `${each.session_id} to review: ${each.title}`,
      })),
  ];
}

/** Finds the item that has waited longest. */
export const findOldestWaiting = (state: State): WaitingRow | undefined =>
  listWaiting(state).sort((one, other) => Date.parse(one.since) - Date.parse(other.since))[0];

/** Counts the items that wait for a person, for a terminal title and for notices: `svc acme: 2 wait`. */
export function describeWaitingCount(state: State): string {
  const { length } = listWaiting(state);
  return `svc ${makeDrawable(state.link.workspace)}: ${length === 0 ? 'nothing waits' : formatCount(length, 'waits', 'wait')}`;
}

import { formatCount } from '../../engine/core/base/text.ts';
import type { State } from '../state/model.ts';
import { isWaitingForReview, listUrgentItems, type WorkItem } from '../state/work-items.ts';
import { makeDrawable } from '../text/text.ts';
import { describeAsker, listOpenAsks } from './ask-preview.ts';
import { formatTimeLeft } from './time.ts';
import { getTitle } from './work-columns.ts';

/** Describes an item that waits for a person, in one line. */
export function describeUrgentItem(item: WorkItem, state: State): string {
  const { id, kind, ask, session } = item;
  switch (kind) {
    case 'ask':
      return `ask ${ask!.id} ${describeAsker(ask!, state)}, ${formatTimeLeft(ask!.expires_at, state.now)} left: ${ask!.question}`;
    case 'decision':
      return `${id} to decide: ${getTitle(item)}`;
    case 'race':
      return `${id} to pick one: ${getTitle(item)}`;
    default:
      return `${id} ${session !== null && isWaitingForReview(session) ? 'to review' : 'failed'}: ${getTitle(item)}`;
  }
}

/** Counts the items that wait for a person by what each needs, such as `1 to decide` and `2 to review`. */
export function listWaitingCounts(state: State): string[] {
  const items = listUrgentItems(state.data);
  const count = (is: (item: WorkItem) => boolean): number => items.filter(is).length;
  const ends = listOpenAsks(state.data).map((each) => each.expires_at);
  const asks = ends.length;
  const left = asks === 0 ? '' : ` (${formatTimeLeft(ends.sort()[0]!, state.now)})`;
  const reviews = count(
    ({ kind, task, session }) =>
      kind === 'ended' && task?.race == null && session !== null && isWaitingForReview(session),
  );
  const [decisions, races] = [count(({ kind }) => kind === 'decision'), count(({ kind }) => kind === 'race')];
  const failed = count(
    ({ kind, session }) =>
      kind === 'task' || (kind === 'ended' && session !== null && session.failure !== null),
  );
  return [
    asks === 0 ? '' : `${formatCount(asks, 'ask')}${left}`,
    decisions === 0 ? '' : `${decisions} to decide`,
    races === 0 ? '' : `${formatCount(races, 'race')} to pick from`,
    reviews === 0 ? '' : `${reviews} to review`,
    failed === 0 ? '' : `${failed} failed`,
  ].filter((each) => each !== '');
}

/** Counts the items that wait for a person, for a terminal title and for notices: `svc acme: 2 wait`. */
export function describeWaitingCount(state: State): string {
  const { length } = listUrgentItems(state.data);
  return `svc ${makeDrawable(state.link.workspace)}: ${length === 0 ? 'nothing waits' : formatCount(length, 'waits', 'wait')}`;
}

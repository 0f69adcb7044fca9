import { formatCount } from '../../engine/core/base/text.ts';
import type { PromoteStrategy } from '../../engine/index.ts';
import { findDetail, getSubjectStamp } from '../state/details.ts';
import type { State } from '../state/model.ts';
import type { ChooseRacers, CompareRace } from '../state/overlays.ts';
import { findRace } from '../state/races.ts';
import type { ShownSession } from '../state/rows.ts';
import { getSelectedTask } from '../state/selection.ts';
import { listRacers } from '../state/work-items.ts';
import { cleanText } from '../text/text.ts';
import { callEngine, type StateTransition, showMessage, transitionTo } from './transition.ts';

const getStamp = (state: State, id: string): string => getSubjectStamp(state.data, { kind: 'task', id });

export function checkCanRace(state: State): string | null {
  const task = getSelectedTask(state);
  if (task === undefined) return 'no task is selected';
  const { task_id: id } = task;
  if (task.race !== null) return `${id} is in a race: C compares its sessions`;
  if (task.status === 'done') return `${id} is done`;
  if (task.status !== 'failed' && task.session_id !== null) return `${id} is being worked on`;
  if (state.data.choices === null) return 'the agents are still being fetched';
  return null;
}

export function openRaceChoice(state: State): StateTransition {
  const { task_id: task } = getSelectedTask(state)!;
  return transitionTo({
    ...state,
    overlay: { kind: 'race', task, stamp: getStamp(state, task), index: 0, counts: {}, askedAt: null },
  });
}

/** Lists the agents that a race can have, then the ones whose programs are missing. */
export const listRaceAgents = ({ data }: State) =>
  (data.choices?.agents ?? []).toSorted((one, other) => Number(other.installed) - Number(one.installed));

/** Lists the chosen agents, repeated ones several times. */
export const listChosen = (state: State, { counts }: ChooseRacers): string[] =>
  listRaceAgents(state).flatMap(({ id }) => Array<string>(counts[id] ?? 0).fill(id));

/** Starts the race, unless the task has changed since. */
export function startRace(state: State, overlay: ChooseRacers): StateTransition {
  const { task: id } = overlay;
  const agents = listChosen(state, overlay);
  const closed = { ...state, overlay: null };
  if (getStamp(state, id) !== overlay.stamp)
    return transitionTo(showMessage(closed, `${id} has changed: check it again`, 'bad'));
  if (state.busy.includes(id)) return transitionTo(showMessage(closed, `${id}: the answer is on its way`));
  return callEngine(closed, {
    operation: 'task.race',
    input: { id, agents },
    busy: id,
    doing: `racing ${id}`,
    describeAnswer: ({ sessions, held }) =>
      `race started: ${sessions.map((each) => each.session_id).join(', ')} · C compares${held.length === 0 ? '' : `; suspended, and waiting: ${held.join(', ')}`}`,
  });
}

export function checkCanCompare(state: State): string | null {
  const task = getSelectedTask(state);
  if (task === undefined) return 'no task is selected';
  const isRaced =
    task.race !== null ||
    [...state.data.sessions.values()].some((each) => each.task_id === task.task_id && each.race !== null);
  return isRaced ? null : `${task.task_id} has no race: B starts several agents on it`;
}

export const openCompare = (state: State): StateTransition =>
  transitionTo({
    ...state,
    overlay: {
      kind: 'compare',
      task: getSelectedTask(state)!.task_id,
      index: 0,
      path: null,
      top: 0,
      askedAt: null,
    },
  });

/** Names the other sessions that a promotion of this one discards, as a sentence; empty outside a race. */
export function describeOthers(state: State, session: Pick<ShownSession, 'session_id' | 'race'>): string {
  if (session.race === null) return '';
  const others = listRacers(state.data, session.race).filter(
    (each) => each.session_id !== session.session_id && each.branch_state !== 'discarded',
  );
  if (others.length === 0) return '';
  const live = others.filter((each) => each.state !== 'ended').length;
  const stopped =
    live === 0 ? '' : `${live === 1 ? 'one still runs and is' : `${live} still run and are`} stopped; `;
  return ` The ${others.length === 1 ? 'other' : `${others.length} others`} of its race, ${others.map((each) => each.session_id).join(', ')}: ${stopped}discarded, and U brings each back.`;
}

/** Names the commit that a squash would make. */
export const describeSquash = (subject: string): string =>
  `s makes one commit: ${JSON.stringify(cleanText(subject))}.`;

/** Explains why the shown session cannot be promoted; null if it can. */
export function checkCanWin(state: State, { task, index }: CompareRace): string | null {
  const found = findRace(state, task);
  const racer = found?.racers[index];
  if (found === null || racer === undefined) return 'the race is still being fetched';
  const { session_id: id } = racer;
  if (found.race.winner !== null) return `${found.race.winner} is already promoted; U on it undoes that`;
  if (racer.state !== 'ended') return `${id} is still ${racer.state}`;
  if (racer.branch_state === 'discarded') return `${id} is discarded`;
  if (racer.branch_state === 'continued') return `a later run continued ${id}: promote the later run`;
  if ((racer.commits ?? 0) === 0) return `${id} has no commits`;
  const work = findDetail(state, 'work', id)?.detail;
  if (!work) return 'its diff is still being fetched';
  if ('problem' in work.trial) return work.trial.problem;
  return work.trial.conflicts.length === 0
    ? null
    : `conflicts in ${work.trial.conflicts.join(', ')}; F on it has its worker resolve them`;
}

/** Asks to promote the shown session, with the full effects. */
export function describePromotion(state: State, { task, index }: CompareRace): string {
  const racer = findRace(state, task)!.racers[index]!;
  const { session_id: id, branch, base, agent, evidence } = racer;
  const work = findDetail(state, 'work', id)?.detail ?? undefined;
  const doubt = evidence.state === 'verified' ? 'It is verified.' : `NOT VERIFIED (${evidence.state}).`;
  return `Promote ${id} by ${agent}: ${branch} into ${base ?? 'its base'}? ${doubt}${describeOthers(state, racer)} This completes ${task}.${work === undefined || 'problem' in work.trial ? '' : ` ${describeSquash(work.trial.subject)}`}`;
}

export function promoteRacer(state: State, overlay: CompareRace, strategy: PromoteStrategy): StateTransition {
  const reason = checkCanWin(state, overlay);
  const now: State = { ...state, overlay: { ...overlay, askedAt: null } };
  if (reason !== null) return transitionTo(showMessage(now, reason, 'bad'));
  const { session_id: id } = findRace(state, overlay.task)!.racers[overlay.index]!;
  if (state.busy.includes(id)) return transitionTo(showMessage(now, `${id}: the answer is on its way`));
  const head = findDetail(state, 'work', id)?.detail?.head;
  return callEngine(now, {
    operation: 'worktree.promote',
    input: { session: id, strategy, ...(head == null ? {} : { head }) },
    busy: id,
    doing: `promoting ${id}`,
    describeAnswer: ({ branch, base, discarded }) =>
      `${branch} is in ${base}; ${formatCount(discarded.length, 'other')} discarded${discarded.length === 0 ? '' : ` (${discarded.join(', ')})`}`,
  });
}

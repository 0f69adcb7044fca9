import { formatCount } from '../../engine/index.ts';
import { clockTime, isPaused, sessionState, untilWords } from '../panes/words.ts';
import type { HeldRow, SessionRow, State } from '../state/model.ts';
import { withWorker } from './moving.ts';
import { call, type Question, type Step, said, step } from './step.ts';
import { selectedSession } from './workers.ts';

/** The exit code of what was ended with Ctrl-C. */
const INTERRUPTED = 130;

const none = 'no worker is selected';

const hasFolder = ({ worktree, inplace }: SessionRow): boolean => worktree !== null || inplace;
const number = ({ session_id: id }: SessionRow): number => Number(id.slice(2));

/** A later session of the same task. */
const later = ({ data }: State, session: SessionRow): SessionRow | undefined =>
  [...data.sessions.values()].find(
    (each) => each.task_id === session.task_id && number(each) > number(session),
  );

export function mayResume(state: State): string | null {
  const session = selectedSession(state);
  if (session === undefined) return none;
  const { session_id: id, task_id: task } = session;
  if (session.state === 'queued' && isPaused(session, state.now)) return null;
  if (session.state === 'queued') return `${id} waits for a free worker`;
  if (session.state !== 'ended') return `${id} is ${sessionState(session)} and has nothing to go on with`;
  const next = later(state, session);
  if (next !== undefined) return `${task} has gone on since, as ${next.session_id}`;
  if (session.failure === null) return `${id} has done its work`;
  return hasFolder(session) ? null : `the worktree of ${id} is no longer there`;
}

/** A paused one goes on before its time; a failed one in a session of its own. Both spend tokens. */
export function resumeQuestion(state: State): Question {
  const session = selectedSession(state)!;
  const { session_id: id, agent, agent_session: conversation, resume_at: at, pause } = session;
  const held = state.data.held.find((each) => each.agent === agent);
  const but = held === undefined ? '' : `, but it is held back ${untilWords(held.reopen_at, state.now)}`;
  const isWaiting = at !== null && session.state === 'queued';
  return {
    subject: { kind: 'session', id },
    text: isWaiting
      ? `Let ${id} go on now and not at ${clockTime(at, state.now)}? It stopped with ${pause?.code ?? 'a limit'} and spends ${agent}'s tokens${but}.`
      : `Let ${id} go on in its worktree${conversation === null ? '' : ' and conversation'}, as a new session? It spends ${agent}'s tokens${but}.`,
    answers: [
      {
        key: 'y',
        label: 'go on',
        run: (now) =>
          call(now, {
            operation: 'worker.resume',
            input: { session: id },
            busy: id,
            doing: `letting ${id} go on`,
            said: (answer) =>
              answer.session_id === id ? `${id} goes on` : `${id} goes on as ${answer.session_id}`,
            after: (since, answer) => (answer.session_id === id ? since : withWorker(since, answer)),
          }),
      },
    ],
  };
}

export function mayAttach(state: State): string | null {
  const session = selectedSession(state);
  if (session === undefined) return none;
  const { session_id: id } = session;
  if (session.state !== 'ended' && session.resume_at === null)
    return `${id} is ${sessionState(session)}: its agent works alone until it pauses or ends`;
  return hasFolder(session) ? null : `the worktree of ${id} is no longer there`;
}

/** Opens the agent of the session for the person, on this terminal; the engine is asked by the command itself. */
export function attach(state: State): Step {
  const { session_id: id } = selectedSession(state)!;
  return step(state, {
    do: 'command',
    words: ['worker', 'attach', id],
    after(now, code) {
      if (code !== 0 && code !== INTERRUPTED)
        return said(now, `svc worker attach ${id} ended with exit code ${code}`, 'bad');
      const session = now.data.sessions.get(id);
      const at = session?.resume_at ?? null;
      const next =
        at === null || session === undefined || !isPaused(session, now.now)
          ? ''
          : `; it goes on at ${clockTime(at, now.now)}, or with R`;
      return said(now, `you have left ${id}${next}`, 'good');
    },
  });
}

/** That of the selected worker, else the first. */
function heldAgent(state: State): HeldRow | undefined {
  const { held } = state.data;
  const agent = state.focus === 'workers' ? selectedSession(state)?.agent : undefined;
  return held.find((each) => each.agent === agent) ?? held[0];
}

export const mayUnhold = (state: State): string | null =>
  heldAgent(state) === undefined ? 'no agent is held back' : null;

export function unholdQuestion(state: State): Question {
  const { agent, failures, code, text } = heldAgent(state)!;
  return {
    subject: { kind: 'agent', id: agent },
    text: `Give ${agent} work again? It failed ${formatCount(failures, 'time')} in a row (${code}: ${text}). What waits for it starts at once and spends tokens.`,
    answers: [
      {
        key: 'y',
        label: 'give work',
        run: (now) =>
          call(now, {
            operation: 'agent.reset',
            input: { agent },
            busy: agent,
            doing: `giving ${agent} work again`,
            said: () => `${agent} is given work again`,
          }),
      },
    ],
  };
}

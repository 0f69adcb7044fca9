import { z } from 'zod';
import { type Caller, operation } from '../../api/operation.ts';
import type { Session } from '../rows.ts';

export interface InstructionDeps {
  workspaceName(): string;
  /** A worker's session; null for the id of another. */
  sessionOf(sessionId: string): Session | null;
  /** Absolute path of its brief; null before it has a folder. */
  briefOf(session: Session): string | null;
  /** A project's folder, absolute; null is the workspace's own. */
  folder(project: string | null): string;
}

/** Writes the instructions for a client's model: who it is, where it is, and what to do first. */
export const instructionOperations = (deps: InstructionDeps) => [
  operation({
    name: 'seat.instructions',
    about: 'What an agent in the caller’s seat is told first.',
    seat: 'any',
    changes: false,
    input: z.strictObject({}),
    run: (_input, caller) => ({ text: instructionsFor(caller, deps) }),
  }),
];

function instructionsFor(caller: Caller, deps: InstructionDeps): string {
  const begin = `svc coordinates the coding agents of the workspace ${deps.workspaceName()}.`;
  const { seat, sessionId } = caller;
  const session = sessionId === null ? null : deps.sessionOf(sessionId);
  if (seat === 'worker' && session !== null) return `${begin} ${forWorker(session, deps.briefOf(session))}`;
  return `${begin} ${seat === 'chair' ? forChair(caller, deps) : forPlain(caller)}`;
}

const OWN_SEAT = 'me means that session wherever a tool takes one, also as holder';

function forChair({ sessionId, project }: Caller, { folder }: InstructionDeps): string {
  const whose = project === null ? '' : ` of project ${project}`;
  const as = sessionId === null ? '' : `, session ${sessionId} (${OWN_SEAT})`;
  return `You are the Chair${whose}${as}, in ${folder(project)}. Plan with task_add (give acceptance criteria), start with \
task_run, read what comes back with msg_inbox, answer questions with ask_answer. When a worker has ended look at verify_status, \
then bring its work in with worktree_promote. lock_acquire a shared file before you edit it yourself.`;
}

function forWorker({ sessionId, workerId, taskId, cwd }: Session, brief: string | null): string {
  const where = cwd === null ? '' : `, in ${cwd}`;
  const task = brief === null ? `Your task is ${taskId}.` : `Your task ${taskId} is in ${brief}, whole.`;
  return `You are its session ${sessionId} (worker ${workerId}; ${OWN_SEAT})${where}. ${task} Claim or lock what others share before \
you edit it. Call ask when you are stuck or the choice is not yours: it waits for the answer. Send messages instead of \
guessing, and call verify_report after your last commit.`;
}

function forPlain({ sessionId, notChair }: Caller): string {
  if (sessionId === null)
    return `You have no seat in it (${notChair ?? 'unknown'}): you may look, and change nothing.`;
  return `You take part as session ${sessionId} (${OWN_SEAT}), and are not the Chair: you start and promote nothing. Lock what \
others share before you edit it, claim items of a checklist with task_claim, and use msg_send, msg_inbox and ask to talk.`;
}

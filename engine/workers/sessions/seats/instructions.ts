import { z } from 'zod';
import { type Caller, operation } from '../../../core/api/operation.ts';
import { renderWords } from '../../../core/api/words.ts';
import { type Sentence, sentence } from '../../../core/base/sentence.ts';
import { canCommit } from '../can-commit.ts';
import type { WorkerGuidance } from '../guidance/index.ts';
import type { Session } from '../rows.ts';
import { writeSitePath } from '../site.ts';

export interface InstructionDeps {
  workspaceName(): string;
  guidance: Pick<WorkerGuidance, 'listRules'>;
  /** A worker's session; null for other ids. */
  sessionOf(sessionId: string): Session | null;
  /** Absolute path of its brief; null before it has a folder. */
  briefOf(session: Session): string | null;
  /** A project's folder, absolute; null for the workspace's own. */
  folder(project: string | null): string;
}

/** Writes the instructions for a client's model: its identity, location, and first steps. */
export const instructionOperations = (deps: InstructionDeps) => [
  operation({
    name: 'seat.instructions',
    about: 'The initial instructions for an agent in the caller’s seat.',
    seat: 'any',
    changes: false,
    input: z.strictObject({
      names_session: z
        .boolean()
        .default(true)
        .describe('false for a client that may read this in one session and work in another'),
    }),
    run: ({ names_session: namesSession }, caller) => ({ text: instructionsFor(caller, namesSession, deps) }),
  }),
];

function instructionsFor(caller: Caller, namesSession: boolean, deps: InstructionDeps): string {
  const { sessionId } = caller;
  const begin = `svc coordinates the coding agents of the workspace ${deps.workspaceName()}.`;
  const session = sessionId === null ? null : deps.sessionOf(sessionId);
  const first = `${begin} ${renderWords(instructSeat(caller, session, namesSession, deps), 'tools')}`;
  // A client without a seat is read-only.
  const rules =
    sessionId === null && caller.seat === 'plain' ? [] : deps.guidance.listRules(caller.seat, 'tools');
  return [first, ...rules.map((rule) => `- ${rule}`)].join('\n');
}

const instructSeat = (
  caller: Caller,
  session: Session | null,
  namesSession: boolean,
  deps: InstructionDeps,
): Sentence =>
  caller.seat === 'worker' && session !== null
    ? instructWorker(session, deps.briefOf(session))
    : caller.seat === 'chair'
      ? instructChair(caller, namesSession, deps)
      : instructPlain(caller);

const OWN_SEAT = 'me means that session wherever a tool takes one, also as holder';
const OWN_NAMELESS_SEAT = 'me means your session wherever a tool takes one, also as holder';

function instructChair(
  { sessionId, project }: Caller,
  namesSession: boolean,
  { folder }: InstructionDeps,
): Sentence {
  const whose = project === null ? '' : ` of project ${project}`;
  const named = namesSession ? `, session ${sessionId} (${OWN_SEAT})` : ` (${OWN_NAMELESS_SEAT})`;
  const as = sessionId === null ? '' : named;
  return sentence`You are the Chair${whose}${as}, in ${folder(project)}. Plan with {task.add} (give acceptance criteria), start with \
{task.run}, read the results with {msg.inbox}, answer questions with {ask.answer}. When a worker has ended check {verify.status}, \
then merge its work with {worktree.promote}.`;
}

function instructWorker(session: Session, brief: string | null): Sentence {
  const { sessionId, workerId, taskId, cwd } = session;
  const where = cwd === null ? '' : `, in ${writeSitePath(cwd)}`;
  const last = canCommit(session)
    ? 'after your last commit'
    : 'when your work is done (you cannot commit here: svc commits your files at the end)';
  const task = brief === null ? `Your task is ${taskId}.` : `Your task ${taskId} is in ${brief}, complete.`;
  return sentence`You are its session ${sessionId} (worker ${workerId}; ${OWN_SEAT})${where}. ${task} Call {ask} when you are stuck or the choice is not yours: it waits for the answer. Send messages instead of \
guessing, and call {verify.report} ${last}.`;
}

function instructPlain({ sessionId, notChair }: Caller): Sentence {
  if (sessionId === null)
    return sentence`You have no seat in it (${notChair ?? 'unknown'}): you may read, and change nothing.`;
  return sentence`You are session ${sessionId} (${OWN_SEAT}), not the Chair: you start and promote nothing. Claim \
items of a checklist with {task.claim}, and use {msg.send}, {msg.inbox} and {ask} to talk.`;
}

import { renderWords } from '../api/words.ts';
import { sentence } from '../base/sentence.ts';
import { cutToWidth, toPrintable } from '../base/text.ts';
import type { Lock } from '../board/locks/index.ts';
import type { Task } from '../board/tasks/index.ts';
import type { Ask } from '../bus/asks/index.ts';
import type { Session } from '../sessions/index.ts';
import type { Contributor } from './hooks.ts';

/** As many of a kind are named. */
const MOST = 10;

/** Tells a session who it is and what it is doing, around the moment at which it forgets. */
export function describeStanding(deps: {
  /** A worker's session; null for the id of another. */
  sessionOf(sessionId: string): Session | null;
  /** Absolute path of its brief; null before it has a folder. */
  briefOf(session: Session): string | null;
  task(taskId: string): Task;
  /** Its open questions. */
  asksOf(sessionId: string): Ask[];
  locksOf(sessionId: string): Lock[];
}): Contributor {
  function listFacts(sessionId: string): string[] {
    const session = deps.sessionOf(sessionId);
    const brief = session === null ? null : deps.briefOf(session);
    const task = session === null ? null : deps.task(session.taskId);
    return [
      session === null || task === null
        ? `you take part in svc as ${sessionId}`
        : `you are svc's session ${sessionId} (worker ${session.workerId}) with task ${task.taskId}: ${shortenText(task.title)}`,
      ...(brief === null ? [] : [`your brief, to the letter: ${brief}`]),
      ...formatList(
        renderWords(sentence`acceptance criteria, by the numbers that {verify.report} takes`, 'tools'),
        (task?.acceptanceCriteria ?? []).map((text, index) => `${index + 1} ${shortenText(text)}`),
      ),
      ...formatList(
        'questions of yours that wait for an answer',
        deps.asksOf(sessionId).map(({ askId, question }) => `ask ${askId} ${shortenText(question)}`),
      ),
      ...formatList(
        'locks that you hold',
        deps.locksOf(sessionId).map(({ path, expiresAt }) => `${toPrintable(path)} until ${expiresAt}`),
      ),
    ].map((fact) => `- ${fact}`);
  }

  return {
    name: 'standing',
    look({ event, caller: { sessionId } }) {
      if (sessionId === null || (event !== 'pre-compact' && event !== 'session-start')) return null;
      const isBefore = event === 'pre-compact';
      const isWorker = deps.sessionOf(sessionId) !== null;
      const text = [
        isBefore ? 'The summary must keep these facts as they are:' : 'Where you stand:',
        ...listFacts(sessionId),
        ...(!isBefore && isWorker ? ['Read the brief again before you go on.'] : []),
      ];
      return { context: [text.join('\n')] };
    },
  };
}

const shortenText = (text: string): string =>
  cutToWidth(toPrintable(text.replace(/\s+/g, ' ')), 160, (part) => part.length);

const formatList = (name: string, items: readonly string[]): string[] => {
  if (items.length === 0) return [];
  const more = items.length > MOST ? `; and ${items.length - MOST} more` : '';
  return [`${name}: ${items.slice(0, MOST).join('; ')}${more}`];
};

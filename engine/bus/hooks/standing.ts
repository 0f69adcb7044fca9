import type { Lock } from '../../board/locks/index.ts';
import type { Task } from '../../board/tasks/index.ts';
import type { Verification } from '../../board/verify/index.ts';
import type { Caller } from '../../core/api/operation.ts';
import { renderWords } from '../../core/api/words.ts';
import { sentence } from '../../core/base/sentence.ts';
import { cutToWidth, formatCount, toPrintable } from '../../core/base/text.ts';
import type { Session } from '../../workers/sessions/index.ts';
import type { Ask } from '../asks/index.ts';
import type { HookContributor } from './hooks.ts';

/** Maximum named items per kind. */
const MOST = 10;

/** Tells a session its identity and current work around a compaction. */
export function describeStanding(deps: {
  /** Returns a worker's session; null for another id. */
  sessionOf(sessionId: string): Session | null;
  /** Returns absolute path of its brief; null before it has a folder. */
  briefOf(session: Session): string | null;
  task(taskId: string): Task;
  /** Returns its open questions. */
  asksOf(sessionId: string): Ask[];
  locksOf(sessionId: string): Lock[];
  /** Reports whether the rest is included: `context.hooks.pre_compact`. */
  tellsMore(): boolean;
  /** Returns ledger items that it has claimed. */
  claimsOf(sessionId: string): { ledger: string; item: number; text: string }[];
  /** Returns its last report, and the state of that evidence. */
  evidenceOf(sessionId: string): Promise<Verification>;
  /** Returns texts that it has stored or read, last used first. */
  textsOf(caller: Caller): Promise<{ id: string; bytes: number; kind: string }[]>;
}): HookContributor {
  async function listMore(caller: Caller, sessionId: string): Promise<string[]> {
    const texts = await deps.textsOf(caller);
    return [
      ...formatList(
        'items that you have claimed',
        deps
          .claimsOf(sessionId)
          .map(({ ledger, item, text }) => `${toPrintable(ledger)} ${item} ${shortenText(text)}`),
      ),
      ...describeEvidence(await deps.evidenceOf(sessionId)),
      ...formatList(
        renderWords(sentence`stored texts, which {context.retrieve <id>} returns`, 'tools'),
        texts.map(({ id, bytes, kind }) => `${id} ${kind}, ${bytes} bytes`),
      ),
    ].map((fact) => `- ${fact}`);
  }

  function listFacts(sessionId: string): string[] {
    const session = deps.sessionOf(sessionId);
    const brief = session === null ? null : deps.briefOf(session);
    const task = session === null ? null : deps.task(session.taskId);
    return [
      session === null || task === null
        ? `your session in svc is ${sessionId}`
        : `you are svc's session ${sessionId} (worker ${session.workerId}) with task ${task.taskId}: ${shortenText(task.title)}`,
      ...(brief === null ? [] : [`your brief, verbatim: ${brief}`]),
      ...formatList(
        renderWords(sentence`acceptance criteria, by the numbers that {verify.report} takes`, 'tools'),
        (task?.acceptanceCriteria ?? []).map((text, index) => `${index + 1} ${shortenText(text)}`),
      ),
      ...formatList(
        'your questions that wait for an answer',
        deps.asksOf(sessionId).map(({ id, question }) => `ask ${id} ${shortenText(question)}`),
      ),
      ...formatList(
        'locks that you hold',
        deps.locksOf(sessionId).map(({ path, expiresAt }) => `${toPrintable(path)} until ${expiresAt}`),
      ),
    ].map((fact) => `- ${fact}`);
  }

  return {
    name: 'standing',
    async look({ event, caller }) {
      const { sessionId } = caller;
      if (sessionId === null || (event !== 'pre-compact' && event !== 'session-start')) return null;
      const isBefore = event === 'pre-compact';
      const isWorker = deps.sessionOf(sessionId) !== null;
      const text = [
        isBefore ? 'The summary must keep these facts as they are:' : 'Your current state:',
        ...listFacts(sessionId),
        ...(deps.tellsMore() ? await listMore(caller, sessionId) : []),
        ...(!isBefore && isWorker ? ['Read the brief again before you continue.'] : []),
      ];
      return { context: [text.join('\n')] };
    },
  };
}

function describeEvidence({ reportedAt, state, summary, tests, criteria }: Verification): string[] {
  if (reportedAt === null) return ['none of your work is reported yet'];
  const unmet = criteria.filter(({ status }) => status !== 'met').length;
  const facts = [
    `your last report, of ${reportedAt}, is ${state}`,
    ...(summary === null ? [] : [shortenText(summary)]),
    ...tests.slice(0, MOST).map(({ command, result }) => `${shortenText(command)} ${result}`),
    ...(unmet === 0
      ? []
      : [`not met or not reported: ${formatCount(unmet, 'criterion', 'criteria')} of ${criteria.length}`]),
  ];
  return [facts.join('; ')];
}

const shortenText = (text: string): string =>
  cutToWidth(toPrintable(text.replace(/\s+/g, ' ')), 160, (part) => part.length);

const formatList = (name: string, items: readonly string[]): string[] => {
  if (items.length === 0) return [];
  const more = items.length > MOST ? `; and ${items.length - MOST} more` : '';
  return [`${name}: ${items.slice(0, MOST).join('; ')}${more}`];
};

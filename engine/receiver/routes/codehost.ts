import { findTemplate, type Task, type Tasks } from '../../board/tasks/index.ts';
import { parseJsonBody, readFormPayload } from '../../core/http/body.ts';
import { findHeader, SCHEMES } from '../../core/http/signature.ts';
import { type CodeHostEvent, readCodeHostEvent } from '../codehost-event.ts';
import type { ReceiverConfig, TaskIntake } from '../intake.ts';
import type { RequestReceipts } from '../receipts.ts';
import { jsonAnswer, type ReceiverAnswer } from '../request.ts';
import { formatCodehostActor } from '../sender.ts';
import type { ReceiverRoute } from './route.ts';

export const EVENT_HEADERS = ['x-codehost-event', 'x-github-event', 'x-gitea-event', 'x-forgejo-event'];
const TRUSTED = ['OWNER', 'MEMBER', 'COLLABORATOR'];

type Work = Exclude<CodeHostEvent, { kind: 'ignored' }>;

/**
 * Creates the route `POST /codehost`: issues and `/svc` comments of a code-hosting service. The scheme signs no time,
 * so an issue or comment creates one task, ever.
 */
export function createCodehostRoute({
  intake,
  receipts,
  tasks,
  config,
}: {
  intake: TaskIntake;
  receipts: RequestReceipts;
  tasks: Tasks;
  config(): ReceiverConfig;
}): ReceiverRoute {
  const ignoredAnswer = (reason: string): ReceiverAnswer => jsonAnswer(200, { ignored: true, reason });

  /** Submits an issue as a task of the template `codehost`: the template's prompt, then the issue's text. */
  function submitIssue(work: Work): Task {
    const { prompt } = findTemplate(config().webhook.templates, 'codehost');
    const parts = [prompt, work.title, work.text].filter((part) => part !== undefined && part.trim() !== '');
    const named = intake.fromTemplate('codehost', dropNul(parts.join('\n\n')));
    return submitWork(work, { ...named, title: work.title });
  }

  function submitComment(work: Work, template: string, extra: string): Task {
    const named = intake.fromTemplate(template, extra === '' ? undefined : dropNul(extra));
    const origin = `A comment on ${work.ref}${work.url === null ? '' : `: ${work.url}`}`;
    const context = dropNul([origin, work.below].filter((part) => part !== '').join('\n\n'));
    return submitWork(work, { ...named, context });
  }

  function submitWork(
    work: Work,
    named: ReturnType<TaskIntake['fromTemplate']> & { title?: string; context?: string },
  ): Task {
    const { ref: sourceRef } = work;
    const stranger = findStranger(work, config().policy.actors);
    // The event has no approve field: it runs immediately only if require_approval is false.
    return intake.submitTask(
      {
        ...named,
        source: 'codehost',
        sourceRef,
        actor: formatCodehostActor(work.sender),
        author: formatCodehostActor(work.author),
        isVouched: isVouchedByService(work),
        stranger,
      },
      { dispatch: true, approve: false },
    );
  }

  return {
    method: 'POST',
    scheme: SCHEMES.codehost,
    safe: false,
    handle(request) {
      const name = findHeader(request.headers, EVENT_HEADERS) ?? null;
      // The signature covers the received bytes, and was checked before.
      const body = readFormPayload(request.body, findHeader(request.headers, ['content-type']));
      const work = readCodeHostEvent(name, parseJsonBody(body), body);
      if (work.kind === 'ignored') return ignoredAnswer(work.reason);
      const command = work.kind === 'comment' ? /^\/svc[ \t]+(\S+)(.*)$/s.exec(work.text) : null;
      if (work.kind === 'comment' && command === null) return ignoredAnswer('the comment names no template');
      const found = receipts.findReceipt(work.key);
      if (found !== null) return intake.answerWithTask(tasks.get(found.taskId), 200);
      if (command === null && !Object.hasOwn(config().webhook.templates, 'codehost')) {
        return ignoredAnswer('there is no template codehost');
      }
      const task =
        command === null ? submitIssue(work) : submitComment(work, command[1]!, command[2]!.trim());
      receipts.keepReceipt(work.key, { taskId: task.taskId, fingerprint: '' }, null);
      return intake.answerWithTask(task, 201);
    },
  };
}

/**
 * Reports whether the service itself reports the author as belonging to the repository, independent of
 * `policy.actors`.
 */
const isVouchedByService = ({ association, author, owner }: Work): boolean =>
  association === null ? author !== null && author === owner : TRUSTED.includes(association);

/**
 * Explains, as a clause, why the author or the sender is not trusted; null when they are. Trust comes from the service,
 * which reports the author's relation to the repository, or from `policy.actors`. An unknown user is not trusted.
 */
function findStranger(
  { kind, author, sender, owner, association }: Work,
  actors: readonly string[],
): string | null {
  const what = kind === 'comment' ? 'comment' : 'issue';
  const isVouchedFor = (login: string | null): boolean =>
    login !== null &&
    (actors.includes(formatCodehostActor(login)) || (association === null && login === owner));
  const isTrusted = association !== null && TRUSTED.includes(association);
  if (!isTrusted && !isVouchedFor(author)) {
    const name = formatCodehostActor(author);
    return association === null
      ? `the code host does not report the ${what}'s author ${name} as owner, member or collaborator of the repository`
      : `the ${what}'s author ${name} is not an owner, member or collaborator of the repository`;
  }
  const isOwnDoing = sender === author;
  const isKnown = isOwnDoing || isVouchedFor(sender) || (sender !== null && sender === owner);
  return isKnown
    ? null
    : `it was sent here by ${formatCodehostActor(sender)}, whom the code host does not report as owner, member or collaborator`;
}

/** Removes NUL, which a program's argument cannot contain; an event's sender cannot be asked to correct it. */
const dropNul = (text: string): string => text.replaceAll('\0', '');

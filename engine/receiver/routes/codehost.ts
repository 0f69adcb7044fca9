import type { Task, Tasks } from '../../board/tasks/index.ts';
import { parseJson } from '../body.ts';
import { type Occurrence, readEvent } from '../codehost-event.ts';
import type { Intake, ReceiverConfig } from '../intake.ts';
import type { Receipts } from '../receipts.ts';
import { type Answer, json } from '../request.ts';
import { codehostActor } from '../sender.ts';
import { header, SCHEMES } from '../signature.ts';
import type { Route } from './route.ts';

const EVENT_HEADERS = ['x-codehost-event', 'x-github-event', 'x-gitea-event', 'x-forgejo-event'];
const TRUSTED = ['OWNER', 'MEMBER', 'COLLABORATOR'];

type Work = Exclude<Occurrence, { kind: 'ignored' }>;

/**
 * `POST /codehost`: issues and `/svc` comments of a code-hosting service. The scheme signs no time, so the same issue
 * or comment makes one task for good.
 */
export function createCodehostRoute({
  intake,
  receipts,
  tasks,
  config,
}: {
  intake: Intake;
  receipts: Receipts;
  tasks: Tasks;
  config(): ReceiverConfig;
}): Route {
  const ignored = (reason: string): Answer => json(200, { ignored: true, reason });

  /** The issue as a task of the template `codehost`: its prompt, then what the issue says. */
  function fromIssue(work: Work): Task {
    const { prompt } = intake.template('codehost');
    const parts = [prompt, work.title, work.text].filter((part) => part !== undefined && part.trim() !== '');
    const named = intake.fromTemplate('codehost', clean(parts.join('\n\n')));
    return submit(work, { ...named, title: work.title });
  }

  function fromComment(work: Work, template: string, extra: string): Task {
    const named = intake.fromTemplate(template, extra === '' ? undefined : clean(extra));
    const context = `A comment on ${work.ref}${work.url === null ? '' : `: ${clean(work.url)}`}`;
    return submit(work, { ...named, context });
  }

  function submit(
    work: Work,
    named: ReturnType<Intake['fromTemplate']> & { title?: string; context?: string },
  ): Task {
    const { ref: sourceRef } = work;
    const stranger = strangerIn(work, config().policy.actors);
    // The event has no approve field: it runs at once only where require_approval is false.
    return intake.submit(
      { ...named, source: 'codehost', sourceRef, actor: codehostActor(work.sender), stranger },
      { dispatch: true, approve: false },
    );
  }

  return {
    method: 'POST',
    scheme: SCHEMES.codehost,
    safe: false,
    handle(request) {
      const name = header(request.headers, EVENT_HEADERS) ?? null;
      const work = readEvent(name, parseJson(request.body), request.body);
      if (work.kind === 'ignored') return ignored(work.reason);
      const command = work.kind === 'comment' ? /^\/svc[ \t]+(\S+)(.*)$/.exec(work.text) : null;
      if (work.kind === 'comment' && command === null) return ignored('the comment names no template');
      const found = receipts.find(work.key);
      if (found !== null) return intake.answer(tasks.get(found.taskId), 200);
      if (command === null && !Object.hasOwn(config().webhook.templates, 'codehost')) {
        return ignored('there is no template codehost');
      }
      const task = command === null ? fromIssue(work) : fromComment(work, command[1]!, command[2]!.trim());
      receipts.keep(work.key, { taskId: task.taskId, fingerprint: '' }, null);
      return intake.answer(task, 201);
    },
  };
}

/**
 * Why nobody has vouched for whoever wrote it, or set its label, a clause; null when somebody has: the service, which
 * says how the author belongs to the repository, or a person here, in `policy.actors`. Who is not known is a stranger.
 */
function strangerIn(
  { kind, author, sender, owner, association }: Work,
  actors: readonly string[],
): string | null {
  const what = kind === 'comment' ? 'comment' : 'issue';
  const isVouchedFor = (login: string | null): boolean =>
    login !== null && (actors.includes(codehostActor(login)) || (association === null && login === owner));
  const isTrusted = association !== null && TRUSTED.includes(association);
  if (!isTrusted && !isVouchedFor(author)) {
    const name = codehostActor(author);
    return association === null
      ? `the code host does not say that the ${what}'s author ${name} is owner, member or collaborator of the repository`
      : `the ${what}'s author ${name} is not owner, member or collaborator of the repository`;
  }
  const isOwnDoing = sender === author;
  const isKnown = isOwnDoing || isVouchedFor(sender) || (sender !== null && sender === owner);
  return isKnown
    ? null
    : `it was sent here by ${codehostActor(sender)}, of whom the code host does not say that they are owner, member or collaborator`;
}

/** No argument of a program can hold a NUL; the sender of an event cannot be asked to send it again. */
const clean = (text: string): string => text.replaceAll('\0', '');

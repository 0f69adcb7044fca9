import type { Task, Tasks } from '../../board/tasks/index.ts';
import { parseJson } from '../body.ts';
import { type Occurrence, readEvent } from '../codehost-event.ts';
import type { Intake, WebhookConfig } from '../intake.ts';
import type { Receipts } from '../receipts.ts';
import { type Answer, json } from '../request.ts';
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
  config(): { webhook: WebhookConfig };
}): Route {
  const ignored = (reason: string): Answer => json(200, { ignored: true, reason });

  /** The issue as a task of the template `codehost`: its prompt, then what the issue says. */
  function fromIssue(work: Work): Task {
    const { prompt } = intake.template('codehost');
    const parts = [prompt, work.title, work.text].filter((part) => part !== undefined && part.trim() !== '');
    const named = intake.fromTemplate('codehost', clean(parts.join('\n\n')));
    return submit(work, { ...named, title: work.title }, work.labeled || trusted(work, true));
  }

  function fromComment(work: Work, template: string, extra: string): Task {
    const named = intake.fromTemplate(template, extra === '' ? undefined : clean(extra));
    const context = `A comment on ${work.ref}${work.url === null ? '' : `: ${clean(work.url)}`}`;
    return submit(work, { ...named, context }, trusted(work, false));
  }

  function submit(
    work: Work,
    named: ReturnType<Intake['fromTemplate']> & { title?: string; context?: string },
    mayRun: boolean,
  ): Task {
    const { actor, ref: sourceRef, kind } = work;
    const who = kind === 'comment' ? 'comment' : 'issue';
    const hold = mayRun
      ? undefined
      : `the ${who}'s author is not owner, member or collaborator of the repository`;
    // The event has no approve field: it runs at once only where require_approval is false.
    return intake.submit(
      { ...named, source: 'codehost', sourceRef, actor },
      { dispatch: true, approve: false, hold },
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

/** A service that does not say who its authors are is trusted with issues, as the document has it, not with comments. */
const trusted = ({ association }: Work, unknown: boolean): boolean =>
  association === null ? unknown : TRUSTED.includes(association);

/** No argument of a program can hold a NUL; the sender of an event cannot be asked to send it again. */
const clean = (text: string): string => text.replaceAll('\0', '');

import { findTemplate, type Task, type Tasks } from '../board/tasks/index.ts';
import type { CodeHostOccurrence } from './codehost-event.ts';
import type { ReceiverConfig, TaskIntake } from './intake.ts';
import type { RequestReceipts } from './receipts.ts';
import { formatCodehostActor } from './sender.ts';

/** The relations to a repository whose people may ask for work. */
export const TRUSTED_ASSOCIATIONS: readonly string[] = ['OWNER', 'MEMBER', 'COLLABORATOR'];

/** An issue or a comment of a code host that may become a task. */
export type CodeHostWork = Exclude<CodeHostOccurrence, { kind: 'ignored' }>;

/** The outcome of an issue or comment. */
export type TakenWork = { task: Task; isNew: boolean } | { ignored: string };

/** Turns issues and comments of code hosts into tasks, each of them into one, whether a hook sent it or a source found it. */
export interface CodeHostIntake {
  /** Call inside `storage.write`. Throws `unknown_template`, `unknown_agent`, `unknown_project`. @param template for issues */
  takeWork(work: CodeHostWork, template?: string): TakenWork;
  /** Reports whether an issue or comment has become a task. */
  isTaken(key: string): boolean;
}

export function createCodeHostIntake({
  intake,
  receipts,
  tasks,
  config,
}: {
  intake: TaskIntake;
  receipts: RequestReceipts;
  tasks: Pick<Tasks, 'get'>;
  config(): ReceiverConfig;
}): CodeHostIntake {
  /** Submits an issue as a task of a template: the template's prompt, then the issue's text. */
  function submitIssue(work: CodeHostWork, template: string): Task {
    const { prompt } = findTemplate(config().webhook.templates, template);
    const parts = [prompt, work.title, work.text].filter((part) => part !== undefined && part.trim() !== '');
    const named = intake.fromTemplate(template, dropNul(parts.join('\n\n')));
    return submitWork(work, { ...named, title: work.title });
  }

  function submitComment(work: CodeHostWork, template: string, extra: string): Task {
    const named = intake.fromTemplate(template, extra === '' ? undefined : dropNul(extra));
    const origin = `A comment on ${work.ref}${work.url === null ? '' : `: ${work.url}`}`;
    const context = dropNul([origin, work.below].filter((part) => part !== '').join('\n\n'));
    return submitWork(work, { ...named, context });
  }

  function submitWork(
    work: CodeHostWork,
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
        sourceUrl: readPage(work.url),
        authorRole: ROLES.find((role) => role === work.association?.toLowerCase()) ?? null,
        actor: formatCodehostActor(work.sender),
        author: formatCodehostActor(work.author),
        isVouched: isVouchedByService(work),
        stranger,
      },
      { dispatch: true, approve: false },
    );
  }

  return {
    isTaken: (key) => receipts.findReceipt(key) !== null,
    takeWork(work, template = 'codehost') {
      const command = work.kind === 'comment' ? /^\/svc[ \t]+(\S+)(.*)$/s.exec(work.text) : null;
      if (work.kind === 'comment' && command === null) return { ignored: 'the comment names no template' };
      const found = receipts.findReceipt(work.key);
      if (found !== null) return { task: tasks.get(found.taskId), isNew: false };
      if (command === null && !Object.hasOwn(config().webhook.templates, template))
        return { ignored: `there is no template ${template}` };
      const task =
        command === null ? submitIssue(work, template) : submitComment(work, command[1]!, command[2]!.trim());
      receipts.keepReceipt(work.key, { taskId: task.taskId, fingerprint: '' }, null);
      return { task, isNew: true };
    },
  };
}

/**
 * Reports whether the service itself reports the author as belonging to the repository, independent of
 * `policy.actors`.
 */
const isVouchedByService = ({ association, author, owner }: CodeHostWork): boolean =>
  association === null ? author !== null && author === owner : TRUSTED_ASSOCIATIONS.includes(association);

/**
 * Explains, as a clause, why the author or the sender is not trusted; null when they are. Trust comes from the service,
 * which reports the author's relation to the repository, or from `policy.actors`. An unknown user is not trusted.
 */
function findStranger(
  { kind, author, sender, owner, association }: CodeHostWork,
  actors: readonly string[],
): string | null {
  const what = kind === 'comment' ? 'comment' : 'issue';
  const isVouchedFor = (login: string | null): boolean =>
    login !== null &&
    (actors.includes(formatCodehostActor(login)) || (association === null && login === owner));
  const isTrusted = association !== null && TRUSTED_ASSOCIATIONS.includes(association);
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

/** https://docs.github.com/en/graphql/reference/enums#commentauthorassociation */
const ROLES = [
  'owner',
  'member',
  'collaborator',
  'contributor',
  'first_time_contributor',
  'first_timer',
  'mannequin',
  'none',
];

const LONGEST_URL = 500;

/** Returns the address of a page that a person may follow; null for any other. */
function readPage(url: string | null): string | null {
  if (url === null || url.length > LONGEST_URL || !URL.canParse(url)) return null;
  const { protocol, username, password, href } = new URL(url);
  return protocol === 'https:' && username === '' && password === '' ? href : null;
}

/** Removes NUL, which a program's argument cannot contain; an event's sender cannot be asked to correct it. */
const dropNul = (text: string): string => text.replaceAll('\0', '');

import { SvcError } from '../../../../engine/core/base/errors.ts';
import { codeHosts } from '../../../../engine/index.ts';
import type { CommandContext } from '../../../command.ts';
import { readTypedLine } from '../../../confirm.ts';

const PULL_REQUESTS = ['off', 'draft', 'ready'] as const;

const NO_ONE = 'no one';

const NOTIFICATIONS = ['desktop', 'ntfy', 'telegram'] as const;

/** The options of every setup that answer its questions. */
export const questionFlags = {
  label: { type: 'string', value: 'name', about: 'label that makes an issue a task (svc)' },
  agent: { type: 'string', value: 'preset', about: 'agent that works on the issues' },
  trust: {
    type: 'string',
    value: 'logins',
    about: 'people, separated by commas, who may trigger tasks like members of the repository (no one)',
  },
  'pull-request': {
    type: 'string',
    about: 'what happens with finished work: off, draft or ready (draft)',
    choices: PULL_REQUESTS,
  },
  notify: {
    type: 'string',
    about: 'where you are notified: desktop only, or ntfy or telegram on a phone too (desktop)',
    choices: NOTIFICATIONS,
  },
  yes: { type: 'boolean', short: 'y', about: 'ask nothing, and write it' },
  'dry-run': { type: 'boolean', about: 'show what would be written, and stop' },
} as const;

/** The answers of a person, or of the options. */
export interface SetupChoice {
  label: string;
  agent: string | null;
  /** Actors of the code host whom its role does not vouch for, such as `codehost:ann`. */
  trusted: string[];
  pullRequest: (typeof PULL_REQUESTS)[number];
  notify: (typeof NOTIFICATIONS)[number];
}

function readOne<const T extends string>(answer: string, words: readonly T[]): T {
  const word = words.find((each) => each === answer);
  if (word !== undefined) return word;
  throw new SvcError(
    'usage',
    `${JSON.stringify(answer)} is not ${words.join(', ').replace(/, (?=\w+$)/, ' or ')}`,
  );
}

async function readLogins(answer: string): Promise<string[]> {
  const { formatCodehostActor, isCodehostLogin } = await codeHosts();
  const logins = answer.split(/[\s,]+/).map((login) => login.replace(/^@/, ''));
  const wrong = logins.find((login) => !isCodehostLogin(login));
  if (wrong !== undefined)
    throw new SvcError('usage', `${JSON.stringify(wrong)} is not the login of a person`, {
      hint: 'separate logins with commas, such as ann,bob',
    });
  return [...new Set(logins)].map(formatCodehostActor);
}

/** Asks what the options do not say; Enter takes the value in parentheses. Throws `usage` for any other answer, and `cancelled`. */
export async function askQuestions(
  context: CommandContext<typeof questionFlags>,
  repository: string,
  agents: readonly string[],
  { isNotified }: { isNotified: boolean },
): Promise<SetupChoice> {
  const { label, agent, trust, notify, 'pull-request': pullRequest, yes, 'dry-run': isDry } = context.flags;
  const isAsking = !yes && !isDry && context.stdin.isTTY && !context.json;
  async function ask(question: string, usual: string): Promise<string> {
    const typed = isAsking ? await readTypedLine(context, `${question} (${usual})`) : '';
    if (typed === null) throw new SvcError('cancelled', 'nothing was written');
    return typed || usual;
  }
  const [first = null] = agents;
  const chosenAgent =
    agent ??
    (agents.length > 1
      ? await ask(`Which agent works on the issues: ${agents.join(', ')}?`, first ?? '')
      : first);
  const opening =
    pullRequest ?? (await ask('Open pull requests for finished work: off, draft or ready?', 'draft'));
  const chosenLabel = label ?? (await ask('Which label makes an issue a task?', 'svc'));
  const logins = trust ?? (await ask(`Who may trigger tasks, besides the members of ${repository}?`, NO_ONE));
  // A workspace that notifies a phone already is not asked again.
  const way =
    notify ??
    (isNotified
      ? 'desktop'
      : await ask(
          'Notify you on the desktop only, or also on a phone: desktop, ntfy or telegram?',
          'desktop',
        ));
  return {
    label: chosenLabel,
    agent: chosenAgent,
    trusted: logins === NO_ONE ? [] : await readLogins(logins),
    pullRequest: readOne(opening, PULL_REQUESTS),
    notify: readOne(way, NOTIFICATIONS),
  };
}

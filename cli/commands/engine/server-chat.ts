import { SvcError } from '../../../engine/core/base/errors.ts';
import { linkedServer } from '../../../engine/index.ts';
import { askForSecrets } from '../../ask-password.ts';
import { defineCommand } from '../../command.ts';
import { formatRows } from '../../print.ts';
import { administerServer, DATA_FLAG } from './server-folder.ts';

interface ListedBot {
  service: string;
  state: string;
  problem: string | null;
  name: string | null;
}

export const serverChat = defineCommand({
  name: 'server chat',
  about:
    'manage the bots of a linked server: list them, set up telegram or slack, or remove one with everything connected to it',
  args: [
    {
      name: 'action',
      about: 'action (list)',
      optional: true,
      choices: ['list', 'telegram', 'slack', 'remove'],
    },
    { name: 'service', about: 'what to remove', optional: true, choices: ['telegram', 'slack'] },
  ],
  flags: {
    webhook: {
      type: 'boolean',
      about: 'Telegram sends updates to --public-url, instead of being polled',
    },
    ...DATA_FLAG,
  },
  examples: ['server chat telegram', 'server chat slack', 'server chat list', 'server chat remove slack'],
  async run(context) {
    const [action = 'list', service] = context.args;
    if (action === 'list') {
      const rows = (await administerServer(context, 'chat.list', {})) as ListedBot[];
      const text = await formatRows(
        rows,
        [
          { head: 'service', value: (row) => row.service },
          { head: 'bot', value: (row) => row.name ?? '' },
          { head: 'state', value: (row) => row.state },
          { head: 'problem', value: (row) => row.problem ?? '' },
        ],
        context.stdout,
      );
      context.result(rows, () => text);
      return 0;
    }
    if (action === 'remove') {
      if (service === undefined)
        throw new SvcError('usage', 'remove which bot?', { hint: 'svc server chat remove telegram' });
      const removed = (await administerServer(context, 'chat.remove', { kind: service })) as {
        left: string | null;
      };
      const text = `the bot of ${service} was removed, with everything connected to it`;
      context.result(removed, () => (removed.left === null ? text : `${text}; ${removed.left}`));
      return 0;
    }
    const kind = action === 'slack' ? 'slack' : 'telegram';
    const { BOT_FIELDS } = await linkedServer();
    const fields = BOT_FIELDS[kind];
    // Non-secret values are prompted for too, so that a pipe can provide all of them.
    const given = await askForSecrets(
      context,
      fields.map(({ label, hint, isOptional }) => `${label} (${hint}${isOptional ? '; may be empty' : ''}):`),
    );
    const settings: Record<string, unknown> = Object.fromEntries(
      fields.map(({ name }, at) => [name, given[at]?.trim() ?? '']),
    );
    if (kind === 'telegram') settings.webhook = context.flags.webhook ?? false;
    const done = await administerServer(context, 'chat.set', { kind, settings });
    context.result(done, () => `the bot of ${kind} is set up`);
    return 0;
  },
});

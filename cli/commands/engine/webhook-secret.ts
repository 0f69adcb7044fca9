import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { SvcError } from '../../../engine/core/base/errors.ts';
import { configuration, findWorkspace, ownSeat } from '../../../engine/index.ts';
import { type Command, type CommandContext, defineCommand } from '../../command.ts';
import { addSecrets } from '../../keys-env.ts';

const BYTES = 32;

/** `svc webhook secret`: creates the secrets that svc.yaml names, in keys.env of the machine home. */
export const webhookSecretCommand: Command = defineCommand({
  name: 'webhook secret',
  about: 'create the secret that signs requests, in keys.env; one that is set stays',
  args: [
    {
      name: 'variable',
      about: 'names of variables (default: those of webhook.secret_env)',
      optional: true,
      rest: true,
    },
  ],
  examples: ['webhook secret', 'webhook secret SVC_NOTIFY_SECRET'],
  async run(context) {
    const { refuseInsideRun } = await ownSeat();
    refuseInsideRun('svc webhook secret', context.env);
    const { home, names, lookup } = await findWantedNames(context);
    const file = join(home, 'keys.env');
    const created = names.filter((name) => lookup(name) === undefined);
    const secrets = created.map((name) => [name, randomBytes(BYTES).toString('hex')]);
    if (created.length > 0) await addSecrets(file, Object.fromEntries(secrets));
    const report = { file, created, present: names.filter((name) => !created.includes(name)) };
    context.result(report, ({ present }) =>
      [
        ...created.map((name) => `${name} is created in ${file}`),
        ...present.map((name) => `${name} is set already`),
      ].join('\n'),
    );
    const isRunning = await context.engine({ start: false }).then(
      () => true,
      () => false,
    );
    if (created.length > 0)
      context.note(
        isRunning
          ? 'svc down, then svc up opens the receiver with it; workers continue'
          : 'svc up opens the receiver with it',
      );
  },
});

async function findWantedNames({ args, cwd, env }: Pick<CommandContext, 'args' | 'cwd' | 'env'>) {
  const { loadConfig, listSecrets } = await configuration();
  const { file } = findWorkspace({ cwd, env });
  const { config, home, lookup } = loadConfig({ file, env });
  const invalid = args.find((name) => !/^[A-Za-z_]\w*$/.test(name));
  if (invalid !== undefined)
    throw new SvcError('usage', `${JSON.stringify(invalid)} is not the name of a variable`, {
      hint: 'write it like SVC_WEBHOOK_SECRET',
    });
  const named = listSecrets(config.webhook.secret_env).flatMap(({ names }) => names);
  const names = [...new Set(args.length > 0 ? args : named)];
  if (names.length === 0)
    throw new SvcError('secret_missing', 'webhook.secret_env is not set in svc.yaml', {
      hint: 'svc config set webhook.secret_env SVC_WEBHOOK_SECRET',
    });
  return { home: home.path, names, lookup };
}

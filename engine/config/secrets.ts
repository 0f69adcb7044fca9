import { SvcError } from '../errors.ts';
import type { SecretLookup } from './home.ts';
import { variableNames } from './variable.ts';

/** The receiver's shared secrets: several while one is replaced. Throws `secret_missing` when there is none. */
export function receiverSecrets(config: { webhook: { secret_env: string } }, lookup: SecretLookup): string[] {
  const names = variableNames(config.webhook.secret_env);
  const secrets = names.flatMap((name) => lookup(name) || []);
  if (secrets.length > 0) return secrets;
  const isNamed = names.length > 0;
  throw new SvcError(
    'secret_missing',
    isNamed ? `${names.join(', ')} is not set` : 'webhook.secret_env is not set in svc.yaml',
    { hint: isNamed ? `export ${names[0]}=…` : 'svc config set webhook.secret_env SVC_WEBHOOK_SECRET' },
  );
}

/** Variables that hold secrets of svc, which no agent is given. */
export const secretVariables = (config: {
  webhook: { secret_env: string };
  notify: { webhooks: readonly { secret_env?: string | undefined }[] };
}): string[] => [
  ...variableNames(config.webhook.secret_env),
  ...config.notify.webhooks.flatMap((hook) => variableNames(hook.secret_env ?? '')),
];

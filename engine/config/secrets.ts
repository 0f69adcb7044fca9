import { SvcError } from '../core/base/errors.ts';
import { parseVariableNames } from '../core/base/values/variable.ts';
import { type RouteSecrets, SECRET_ROUTES, type SecretRoute } from '../receiver/config.ts';
import type { SecretLookup } from './home.ts';

/** `webhook.secret_env`: variables for all routes, or separate ones per route. */
export type SecretEnv = string | Readonly<Partial<Record<SecretRoute, string | undefined>>>;

/** Returns the key that names a secret, and its variables. */
export function listSecrets(
  secretEnv: SecretEnv,
): { key: string; route: SecretRoute | null; names: string[] }[] {
  const key = 'webhook.secret_env';
  if (typeof secretEnv === 'string') return [{ key, route: null, names: parseVariableNames(secretEnv) }];
  return SECRET_ROUTES.flatMap((route) => {
    const names = parseVariableNames(secretEnv[route] ?? '');
    return names.length === 0 ? [] : [{ key: `${key}.${route}`, route, names }];
  });
}

/** Returns the receiver's secrets. Throws `secret_missing` if there is none, or a named one is not set. */
export function listReceiverSecrets(
  config: { webhook: { secret_env: SecretEnv } },
  lookup: SecretLookup,
): RouteSecrets {
  const secrets: Partial<Record<SecretRoute, string[]>> = {};
  for (const { key, route, names } of listSecrets(config.webhook.secret_env)) {
    if (names.length === 0) break;
    const set = names.flatMap((name) => lookup(name) || []);
    if (set.length === 0)
      throw new SvcError(
        'secret_missing',
        `${names.join(', ')} is not set${route === null ? '' : ` (${key})`}`,
        {
          hint: 'svc webhook secret creates it',
        },
      );
    for (const each of route === null ? SECRET_ROUTES : [route]) secrets[each] = set;
  }
  if (Object.keys(secrets).length > 0) return secrets;
  throw new SvcError('secret_missing', 'webhook.secret_env is not set in svc.yaml', {
    hint: 'svc config set webhook.secret_env SVC_WEBHOOK_SECRET',
  });
}

/** One variable that a key names for a secret, and whether this process has it; never its value. */
export interface NamedSecret {
  key: string;
  name: string;
  isSet: boolean;
}

/** The variables that `notify` names. */
interface NotifySecrets {
  webhooks: readonly { secret_env?: string | undefined }[];
  push: readonly { topic_env?: string | undefined; token_env?: string | undefined }[];
}

/** The variables that `sources` names. */
type SourceSecrets = readonly { kind: string; token_env?: string | undefined }[];

/** Returns the variables that `sources` names. */
const listSourceSecrets = (sources: SourceSecrets) =>
  sources.map(({ token_env = '' }, at) => ({
    key: `sources[${at}].token_env`,
    names: parseVariableNames(token_env),
  }));

/** Returns the variables that `notify.push` names. */
const listPushSecrets = (push: NotifySecrets['push']) =>
  push.flatMap(({ topic_env = '', token_env = '' }, at) => [
    { key: `notify.push[${at}].topic_env`, names: parseVariableNames(topic_env) },
    { key: `notify.push[${at}].token_env`, names: parseVariableNames(token_env) },
  ]);

/** Returns every variable that holds a secret of svc, as `lookup` finds it; those of phones and code hosts are read when they are used. */
export function findSecrets(
  config: {
    webhook: { secret_env: SecretEnv };
    notify: NotifySecrets;
    sources: SourceSecrets;
  },
  lookup: SecretLookup,
  current: SecretLookup = lookup,
): NamedSecret[] {
  const named = [
    ...listSecrets(config.webhook.secret_env),
    ...config.notify.webhooks.map(({ secret_env }, at) => ({
      key: `notify.webhooks[${at}].secret_env`,
      names: parseVariableNames(secret_env ?? ''),
    })),
  ];
  const list = (all: readonly { key: string; names: string[] }[], find: SecretLookup): NamedSecret[] =>
    all.flatMap(({ key, names }) => names.map((name) => ({ key, name, isSet: find(name) !== undefined })));
  const late = [...listPushSecrets(config.notify.push), ...listSourceSecrets(config.sources)];
  return [...list(named, lookup), ...list(late, current)];
}

/** Returns variables that hold secrets of svc, which no agent receives. */
export const listSecretVariables = (config: {
  webhook: { secret_env: SecretEnv };
  notify: NotifySecrets;
  sources: SourceSecrets;
}): string[] => findSecrets(config, () => undefined).map(({ name }) => name);

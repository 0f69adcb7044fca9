import type { SetupKind, SetupPlace } from './forge-kinds.ts';
import type { SetupChoice } from './questions.ts';
import type { SetupRecord } from './record.ts';

const PROMPT = 'Solve this issue. Run the tests of the project before you finish.';

/** The variable with the topic that ntfy messages are published under. */
export const TOPIC_VARIABLE = 'SVC_NTFY_TOPIC';

/** The part of the configuration that a setup compares its answers with. */
interface ConfigBefore {
  sources: readonly { kind: string; repository: string; host?: string; label: string }[];
  policy: { actors: readonly string[] };
  notify: { push: readonly { kind: string }[] };
}

/** The keys of svc.yaml that a setup may change, and how they are written now; undefined for one that is not. */
export const SETUP_KEYS = {
  sources: ['sources'],
  template: ['webhook', 'templates', 'codehost'],
  actors: ['policy', 'actors'],
  push: ['notify', 'push'],
};

type RawKeys = Record<keyof typeof SETUP_KEYS, unknown>;

const asList = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

function describeSource(
  { kind, usualHost }: SetupKind,
  { name, host, tokenEnv }: SetupPlace,
  label: string,
): Record<string, string> {
  return {
    kind,
    repository: name,
    ...(host === null || host === usualHost ? {} : { host }),
    ...(tokenEnv === undefined ? {} : { token_env: tokenEnv }),
    ...(label === 'svc' ? {} : { label }),
  };
}

/** Lists the values of svc.yaml that differ from what is wanted. */
export function listSetupChanges(
  config: ConfigBefore,
  raw: RawKeys,
  forge: SetupKind,
  place: SetupPlace,
  { label, agent, trusted, pullRequest, notify }: SetupChoice,
): SetupRecord['keys'] {
  const isPolled = config.sources.some(
    (each) =>
      each.kind === forge.kind &&
      each.repository.toLowerCase() === place.name.toLowerCase() &&
      (each.host ?? null) === place.host &&
      each.label === label,
  );
  const before = typeof raw.template === 'object' && raw.template !== null ? raw.template : undefined;
  const template = {
    ...(before ?? { prompt: PROMPT }),
    ...(agent === null ? {} : { agent }),
    ...(pullRequest === 'off' && before === undefined ? {} : { pull_request: pullRequest }),
  };
  const missing = trusted.filter((actor) => !config.policy.actors.includes(actor));
  const isNotified = notify !== 'ntfy' || config.notify.push.some(({ kind }) => kind === 'ntfy');
  const wanted: RawKeys = {
    sources: isPolled ? raw.sources : [...asList(raw.sources), describeSource(forge, place, label)],
    template: JSON.stringify(before) === JSON.stringify(template) ? raw.template : template,
    actors: missing.length === 0 ? raw.actors : [...asList(raw.actors), ...missing],
    push: isNotified ? raw.push : [...asList(raw.push), { kind: 'ntfy', topic_env: TOPIC_VARIABLE }],
  };
  return (Object.keys(SETUP_KEYS) as (keyof typeof SETUP_KEYS)[])
    .filter((key) => wanted[key] !== raw[key])
    .map((key) => ({ path: SETUP_KEYS[key], before: raw[key] ?? undefined, after: wanted[key] }));
}

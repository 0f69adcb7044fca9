import { createHash } from 'node:crypto';
import { basename, dirname, relative, resolve } from 'node:path';
import {
  type AgreedFile,
  type ConsentStore,
  changeConsents,
  digestSetup,
  readConsents,
} from '../core/access/index.ts';
import { SvcError } from '../core/base/errors.ts';
import { isSecretHeader } from '../core/base/redact.ts';
import { describeKeys } from './keys.ts';
import { type ConfigTree, getAt, isTree, setAt } from './layers.ts';
import { configSchema } from './schema.ts';
import { isTrackedByGit } from './tracked.ts';

/** A key whose value in the file waits for consent. */
export interface PendingKey {
  key: string;
  /** The value in use instead, as the file had it; null is the default. Secrets are digests. */
  old: unknown;
  /** The value in the file; null if the key is absent. */
  new: unknown;
}

/** The state of consent to a configuration file on this machine. */
export interface ConfigConsent {
  /** `changed`: the last agreed values are in use; `none`: no one ever agreed, and nothing is started. */
  state: 'given' | 'changed' | 'none';
  pending: PendingKey[];
  /** Digest of exactly the file's values under these keys; `svc trust` agrees to it. */
  digest: string;
  /** Why a recorded consent is ignored; null if the record is fine. */
  problem: string | null;
  /** The record of this first use; null if there is a record already. */
  firstUse: 'agreed' | 'waits' | null;
}

/**
 * Entries of `projects` are never replaced by older ones: each is refused at its use until it was agreed to
 * (engine/workers/runner/setup).
 */
const BY_ITS_USE = 'projects';

// Computed once: walking the schema takes longer than everything else.
let known: readonly string[] | undefined;

/** Lists the keys whose values in a file need consent. */
export function listConsentKeys(): readonly string[] {
  known ??= describeKeys().flatMap(({ key, consent }) => (consent ? [key] : []));
  return known;
}

const listHeldKeys = (): string[] => listConsentKeys().filter((key) => key !== BY_ITS_USE);

const hashText = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Formats a value canonically, independent of the order in a file. */
function formatCanonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(formatCanonical).join(',')}]`;
  if (!isTree(value)) return JSON.stringify(value) ?? 'null';
  const names = Object.keys(value).filter((name) => value[name] !== undefined);
  return `{${names
    .sort()
    .map((name) => `${JSON.stringify(name)}:${formatCanonical(value[name])}`)
    .join(',')}}`;
}

const SEALED = 'svc-sealed-sha256:';

/** Replaces every secret in a value with its digest: the form that is recorded, compared and shown. */
function digestSecrets(value: unknown, name = '', inHeaders = false): unknown {
  if (Array.isArray(value)) return value.map((entry) => digestSecrets(entry, name, inHeaders));
  if (isTree(value)) {
    return Object.fromEntries(
      Object.entries(value).map(([key, member]) => [key, digestSecrets(member, key, name === 'headers')]),
    );
  }
  if (typeof value !== 'string' || value === '') return value;
  if (name === 'api_key' || (inHeaders && isSecretHeader(name))) return SEALED + hashText(value);
  return value.replace(
    /^(https?:\/\/)([^/?#@\s]+)@/i,
    (_, scheme: string, who: string) => `${scheme}sealed-${hashText(who).slice(0, 16)}@`,
  );
}

/** Makes a recorded value usable: secrets were not recorded, so they are dropped. */
function dropSecrets(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(dropSecrets);
  if (isTree(value))
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, dropSecrets(member)]));
  return typeof value === 'string' && value.startsWith(SEALED) ? '' : value;
}

const valueAt = (tree: unknown, key: string): unknown => getAt(tree, key.split('.'));

/** Picks these keys from a tree without secrets. */
function pickKeys(sealed: ConfigTree, keys: readonly string[]): ConfigTree {
  const found: ConfigTree = {};
  for (const key of keys) {
    const value = valueAt(sealed, key);
    if (value !== undefined) setAt(found, key.split('.'), value);
  }
  return found;
}

const digestTree = (tree: ConfigTree): ConfigTree => digestSecrets(tree) as ConfigTree;

/** Returns the digest of a file's values under the keys that need consent, independent of comments, layout and order. */
export const digestConsent = (tree: ConfigTree): string =>
  hashText(formatCanonical(pickKeys(digestTree(tree), listConsentKeys())));

/** Lists keys whose value in the file differs from the agreed one. */
function listDifferences(tree: ConfigTree, agreed: ConfigTree): PendingKey[] {
  const keys = listHeldKeys();
  const [said, held] = [pickKeys(digestTree(tree), keys), pickKeys(agreed, keys)];
  if (formatCanonical(said) === formatCanonical(held)) return [];
  // A key set to its default, or written differently, has not changed.
  const [one, other] = [configSchema.safeParse(said), configSchema.safeParse(held)];
  return keys.flatMap((key) => {
    const [old, now] = [valueAt(held, key), valueAt(said, key)];
    const isSame =
      formatCanonical(old) === formatCanonical(now) ||
      (one.success &&
        other.success &&
        formatCanonical(valueAt(one.data, key)) === formatCanonical(valueAt(other.data, key)));
    return isSame ? [] : [{ key, old: old ?? null, new: now ?? null }];
  });
}

/** The facts about a file for deciding about its values. */
export interface ConsentQuestion {
  file: string;
  /** The values of the file. */
  tree: ConfigTree;
  /** The machine home. */
  home: string;
  env: NodeJS.ProcessEnv;
  /** The recorded consents, if already read. */
  consents?: ConsentStore | undefined;
}

/** Decides whether the values of a file are used, by the records on this machine and, for a first use, by git's tracking. */
export function judgeConsent({ file, tree, home, env, consents }: ConsentQuestion): {
  consent: ConfigConsent;
  agreed: AgreedFile | null;
} {
  const { files, waiting, problem } = consents ?? readConsents(home, dirname(file));
  const agreed = files[basename(file)] ?? null;
  const pending = listDifferences(tree, agreed?.tree ?? {});
  const about = { digest: digestConsent(tree), problem, firstUse: null };
  if (pending.length === 0)
    return { agreed, consent: { ...about, state: 'given', pending, firstUse: agreed ? null : 'agreed' } };
  if (agreed !== null) return { agreed, consent: { ...about, state: 'changed', pending } };
  const none = { ...about, state: 'none', pending } as const;
  if (problem !== null || waiting[basename(file)] !== undefined) return { agreed, consent: none };
  return isTrackedByGit(file, env)
    ? { agreed, consent: { ...none, firstUse: 'waits' } }
    : { agreed, consent: { ...about, state: 'given', pending: [], firstUse: 'agreed' } };
}

/** Applies consent: returns the file's values, with the last agreed values, or none, under the waiting keys. */
export function applyConsent(
  tree: ConfigTree,
  agreed: AgreedFile | null,
  { pending }: ConfigConsent,
): ConfigTree {
  const held = structuredClone(tree);
  for (const { key } of pending) {
    const path = key.split('.');
    const old = dropSecrets(valueAt(agreed?.tree ?? {}, key));
    if (old !== undefined) setAt(held, path, old);
    else removeAt(held, path);
  }
  return held;
}

/** Returns keys under consent whose values differ between two texts of a file. */
export function listDifferingKeys(before: ConfigTree, after: ConfigTree): string[] {
  return listConsentKeys().filter(
    (key) => formatCanonical(valueAt(before, key)) !== formatCanonical(valueAt(after, key)),
  );
}

/** Lists setups of `projects` entries that are new or changed since `before`, with the digest to agree to. */
export function listChangedSetups(
  before: ConfigTree,
  after: ConfigTree,
  root: string,
): { id: string; digest: string }[] {
  const parseEntries = (tree: ConfigTree) => {
    const parsed = configSchema.shape.projects.safeParse(tree.projects);
    return parsed.success ? parsed.data : [];
  };
  const known = new Set(parseEntries(before).map(formatCanonical));
  return parseEntries(after)
    .filter((entry) => !known.has(formatCanonical(entry)))
    .map(({ id, path, setup, teardown, env_files: envFiles, run }) => ({
      id,
      digest: digestSetup({ path: relative(root, resolve(root, path)), setup, teardown, envFiles, run }),
    }));
}

/** Returns the whole content of a file at the time of consent. */
export const readAgreed = (agreed: AgreedFile | null): ConfigTree =>
  dropSecrets(agreed?.tree ?? {}) as ConfigTree;

function removeAt(tree: ConfigTree, path: readonly string[]): void {
  const around = getAt(tree, path.slice(0, -1));
  if (isTree(around)) delete around[path.at(-1)!];
}

/** The person who agrees, and the act. */
export interface ConsentAct {
  how: AgreedFile['how'];
  actor: string;
  /** RFC 3339. */
  at: string;
  /** Only these keys, or entries below a map; default: all values of the file. */
  keys?: readonly string[] | undefined;
  /** Entries of `projects` whose commands and files are agreed to as well. */
  setups?: readonly { id: string; digest: string }[] | undefined;
}

/** Builds the record of an agreement to a file's values. */
export function buildAgreement(tree: ConfigTree, before: AgreedFile | null, given: ConsentAct): AgreedFile {
  const { how, actor, at: when, keys } = given;
  const now = digestTree(tree);
  if (keys === undefined) return { tree: now, how, actor, at: when };
  // Values that need no consent are recorded too, because they were seen together.
  const [said, recorded] = [now, structuredClone(now)];
  for (const key of listConsentKeys()) {
    if (keys.includes(key)) continue;
    const old = valueAt(before?.tree ?? {}, key);
    if (old === undefined) removeAt(recorded, key.split('.'));
    else setAt(recorded, key.split('.'), structuredClone(old));
    // One entry of a map: the others keep waiting.
    for (const name of keys.filter((each) => each.startsWith(`${key}.`))) {
      const value = valueAt(said, name);
      if (value === undefined) removeAt(recorded, name.split('.'));
      else setAt(recorded, name.split('.'), value);
    }
  }
  return { tree: recorded, how, actor, at: when };
}

/** Throws `storage_failed` if the machine home is not writable. */
function changeConsentsOf(home: string, file: string, change: Parameters<typeof changeConsents>[2]): string {
  try {
    return changeConsents(home, dirname(file), change);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === undefined) throw cause;
    throw new SvcError('storage_failed', `the consent could not be recorded in ${home} (${code})`, {
      cause,
      hint: 'make that folder writable for this user, or name another with SVC_HOME',
    });
  }
}

/** Records consent to the values of a file. Returns the file of the machine home. */
export function recordAgreement(
  { home, file, tree }: Pick<ConsentQuestion, 'home' | 'file' | 'tree'>,
  given: ConsentAct,
): string {
  return changeConsentsOf(home, file, ({ files, waiting, projects }) => {
    const name = basename(file);
    files[name] = buildAgreement(tree, files[name] ?? null, given);
    delete waiting[name];
    for (const { id, digest } of given.setups ?? [])
      projects[id] = { digest, at: given.at, actor: given.actor };
  });
}

/** Records that a file waits for consent, so that it does not count as a first use later when git no longer tracks it. */
export const recordWaiting = (
  { home, file }: Pick<ConsentQuestion, 'home' | 'file'>,
  since: string,
): string =>
  changeConsentsOf(home, file, ({ waiting }) => {
    waiting[basename(file)] = { since };
  });

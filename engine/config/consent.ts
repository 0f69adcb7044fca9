import { createHash } from 'node:crypto';
import { basename, dirname, relative, resolve } from 'node:path';
import {
  type AgreedFile,
  type Consents,
  changeConsents,
  digestSetup,
  readConsents,
} from '../core/access/index.ts';
import { SvcError } from '../core/base/errors.ts';
import { describeKeys } from './keys.ts';
import { getAt, isTree, setAt, type Tree } from './layers.ts';
import { SECRET_NAME } from './mask.ts';
import { configSchema } from './schema.ts';
import { isTrackedByGit } from './tracked.ts';

/** A key whose value in the file waits until somebody agrees to it. */
export interface PendingKey {
  key: string;
  /** The value in force instead, as the file had it; null is the default. Secrets are digests. */
  old: unknown;
  /** What the file says; null when it leaves the key out. */
  new: unknown;
}

/** Whether what a configuration file says was agreed to on this machine. */
export interface ConfigConsent {
  /** `changed`: the values agreed to last are in force; `none`: nobody ever agreed, and nothing is started. */
  state: 'given' | 'changed' | 'none';
  pending: PendingKey[];
  /** Digest of exactly what the file says under these keys; `svc trust` agrees to it. */
  digest: string;
  /** Why a recorded consent does not count; null when nothing is wrong with the record. */
  problem: string | null;
  /** What to record about this first use; null when there is a record already. */
  firstUse: 'agreed' | 'waits' | null;
}

/**
 * Entries of `projects` are never replaced by older ones: each is refused at its use until it was agreed to
 * (engine/workers/runner/setup).
 */
const BY_ITS_USE = 'projects';

// Computed once: walking the schema takes longer than everything else.
let known: readonly string[] | undefined;

/** Lists the keys whose values in a file only count after consent. */
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

/** Replaces every secret in a value by its digest: the form that is recorded, compared and shown. */
function digestSecrets(value: unknown, name = '', inHeaders = false): unknown {
  if (Array.isArray(value)) return value.map((entry) => digestSecrets(entry, name, inHeaders));
  if (isTree(value)) {
    return Object.fromEntries(
      Object.entries(value).map(([key, member]) => [key, digestSecrets(member, key, name === 'headers')]),
    );
  }
  if (typeof value !== 'string' || value === '') return value;
  if (name === 'api_key' || (inHeaders && SECRET_NAME.test(name))) return SEALED + hashText(value);
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
function pickKeys(sealed: Tree, keys: readonly string[]): Tree {
  const found: Tree = {};
  for (const key of keys) {
    const value = valueAt(sealed, key);
    if (value !== undefined) setAt(found, key.split('.'), value);
  }
  return found;
}

const digestTree = (tree: Tree): Tree => digestSecrets(tree) as Tree;

/** Digest of what a file says under the keys that need consent, independent of comments, layout and order. */
export const digestConsent = (tree: Tree): string =>
  hashText(formatCanonical(pickKeys(digestTree(tree), listConsentKeys())));

/** Lists keys whose value in the file differs from what was agreed to. */
function listDifferences(tree: Tree, agreed: Tree): PendingKey[] {
  const keys = listHeldKeys();
  const [said, held] = [pickKeys(digestTree(tree), keys), pickKeys(agreed, keys)];
  if (formatCanonical(said) === formatCanonical(held)) return [];
  // A key set to its default has not changed; nor has one that is written differently.
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

/** What is known about a file before deciding which of its values count. */
export interface ConsentQuestion {
  file: string;
  /** What the file says. */
  tree: Tree;
  /** The machine home. */
  home: string;
  env: NodeJS.ProcessEnv;
  /** The recorded consents, if already read. */
  consents?: Consents | undefined;
}

/**
 * Decides whether the values of a file count, by what is recorded on this machine and, for a first use, by what git
 * tracks.
 */
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

/** Applies consent: what a file says, with the values agreed to last, or none, under the keys that wait. */
export function applyConsent(tree: Tree, agreed: AgreedFile | null, { pending }: ConfigConsent): Tree {
  const held = structuredClone(tree);
  for (const { key } of pending) {
    const path = key.split('.');
    const old = dropSecrets(valueAt(agreed?.tree ?? {}, key));
    if (old !== undefined) setAt(held, path, old);
    else removeAt(held, path);
  }
  return held;
}

/** Keys under consent whose values differ between two texts of a file. */
export function listDifferingKeys(before: Tree, after: Tree): string[] {
  return listConsentKeys().filter(
    (key) => formatCanonical(valueAt(before, key)) !== formatCanonical(valueAt(after, key)),
  );
}

/** Lists setups of `projects` entries that `before` does not have in the same form, with the digest to agree to. */
export function listChangedSetups(before: Tree, after: Tree, root: string): { id: string; digest: string }[] {
  const parseEntries = (tree: Tree) => {
    const parsed = configSchema.shape.projects.safeParse(tree.projects);
    return parsed.success ? parsed.data : [];
  };
  const known = new Set(parseEntries(before).map(formatCanonical));
  return parseEntries(after)
    .filter((entry) => !known.has(formatCanonical(entry)))
    .map(({ id, path, setup, teardown, env_files: envFiles }) => ({
      id,
      digest: digestSetup({ path: relative(root, resolve(root, path)), setup, teardown, envFiles }),
    }));
}

/** Everything that a file said when it was agreed to. */
export const readAgreed = (agreed: AgreedFile | null): Tree => dropSecrets(agreed?.tree ?? {}) as Tree;

function removeAt(tree: Tree, path: readonly string[]): void {
  const around = getAt(tree, path.slice(0, -1));
  if (isTree(around)) delete around[path.at(-1)!];
}

/** Who agrees, and by which act. */
export interface Agreement {
  how: AgreedFile['how'];
  actor: string;
  /** RFC 3339. */
  at: string;
  /** Only these keys, or entries below one that is a map; without it everything that the file says. */
  keys?: readonly string[] | undefined;
  /** Entries of `projects` whose commands and files are agreed to as well. */
  setups?: readonly { id: string; digest: string }[] | undefined;
}

/** Builds the record of an agreement to a file's values. */
export function buildAgreement(tree: Tree, before: AgreedFile | null, given: Agreement): AgreedFile {
  const { how, actor, at: when, keys } = given;
  const now = digestTree(tree);
  if (keys === undefined) return { tree: now, how, actor, at: when };
  // Values without need of consent are recorded too: the rest was seen together with them.
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

/** Throws `storage_failed` where the machine home cannot be written. */
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

/** Records that the values of a file were agreed to. Returns the file of the machine home. */
export function recordAgreement(
  { home, file, tree }: Pick<ConsentQuestion, 'home' | 'file' | 'tree'>,
  given: Agreement,
): string {
  return changeConsentsOf(home, file, ({ files, waiting, projects }) => {
    const name = basename(file);
    files[name] = buildAgreement(tree, files[name] ?? null, given);
    delete waiting[name];
    for (const { id, digest } of given.setups ?? [])
      projects[id] = { digest, at: given.at, actor: given.actor };
  });
}

/**
 * Records that a file was found waiting, so that it does not count as a first use later when git no longer tracks it.
 */
export const recordWaiting = (
  { home, file }: Pick<ConsentQuestion, 'home' | 'file'>,
  since: string,
): string =>
  changeConsentsOf(home, file, ({ waiting }) => {
    waiting[basename(file)] = { since };
  });

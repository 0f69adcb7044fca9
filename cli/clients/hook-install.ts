import { existsSync, lstatSync, readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { SvcError } from '../../engine/index.ts';
import { type HookFile, hooksOf, isOurs, linesOf, placeOf, type Words } from './hook-files.ts';
import { byList, type HookText, jsonHooks, tomlHooks } from './hook-text.ts';
import type { Place } from './install.ts';

/** What an agent's file has of svc, and what would become of it. */
export interface HookPlan {
  file: string;
  /** none: it is so already. */
  change: 'created' | 'added' | 'replaced' | 'removed' | 'none';
  /** The entries in the format of the file. */
  shown: string;
  /** The whole new text; null for no file. */
  text: string | null;
}

/**
 * Reads the agent's file and changes nothing. Without `svc` its hooks are taken out. Throws `config_invalid` for a file
 * that cannot be read or added to, `exists` for one of somebody else under our name, `usage` where the agent has none.
 */
export async function planHooks(agent: HookFile, place: Place, svc: Words | null): Promise<HookPlan> {
  const file = placeOf(agent, place.scope, place);
  if (file === undefined) {
    throw new SvcError('usage', `${agent.agent} has no hooks for one project alone`, {
      hint: 'with --user they are for all folders',
    });
  }
  const present = readIfThere(file);
  if (isAlone(agent)) return planOwn(agent, file, present, svc);
  const format = formatOf(agent);
  const wanted = svc === null ? [] : (await hooksOf(agent)).listEntries(linesOf(agent, svc));
  const shown = format.show(wanted);
  if (present === undefined || present.trim() === '') {
    if (svc === null) return { file, change: 'none', shown, text: present ?? null };
    const text =
      agent.format === 'json'
        ? `${JSON.stringify({ ...agent.start, hooks: byList(wanted) }, null, 2)}\n`
        : format.put('', wanted);
    return { file, change: 'created', shown, text };
  }
  try {
    const before = format.find(present);
    const text = format.put(present, wanted);
    if (text === null) throw new SyntaxError('has hooks in a form that only a person can change');
    if (text === present || sameEntries(before, wanted))
      return { file, change: 'none', shown, text: present };
    if (svc === null) {
      // A file that holds nothing any more was made by an installation, or might as well have been.
      const isEmpty = /^\s*(\{\s*\}\s*)?$/.test(text) && !lstatSync(file).isSymbolicLink();
      return { file, change: 'removed', shown: format.show(before), text: isEmpty ? null : text };
    }
    return { file, change: before.length === 0 ? 'added' : 'replaced', shown, text };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new SvcError('config_invalid', `${file} ${error.message}`, {
      hint:
        svc === null
          ? 'correct it, or take the entries that run svc hook out by hand'
          : `correct it, or add this by hand: ${shown.replace(/\s+/g, ' ')}`,
    });
  }
}

/** Whether the file of a scope runs `svc hook`. One that cannot be read does not. */
export function hasHooks(agent: HookFile, place: Place): boolean {
  const file = placeOf(agent, place.scope, place);
  try {
    const text = file === undefined ? undefined : readIfThere(file);
    if (text === undefined) return false;
    return isAlone(agent) ? isOwn(agent, text) : formatOf(agent).find(text).length > 0;
  } catch {
    return false;
  }
}

async function planOwn(
  agent: HookFile,
  file: string,
  present: string | undefined,
  svc: Words | null,
): Promise<HookPlan> {
  if (present !== undefined && !isOwn(agent, present)) {
    if (svc === null) return { file, change: 'none', shown: '', text: present };
    throw new SvcError('exists', `${file} is not of svc and stays as it is`, {
      hint: 'give it another name first',
    });
  }
  if (svc === null) {
    const change = present === undefined ? 'none' : 'removed';
    return { file, change, shown: present?.trimEnd() ?? '', text: null };
  }
  const text = await ownText(agent, svc);
  const change = present === undefined ? 'created' : present === text ? 'none' : 'replaced';
  return { file, change, shown: text.trimEnd(), text };
}

/** The whole file. */
async function ownText(agent: HookFile, svc: Words): Promise<string> {
  const { listEntries, buildPlugin } = await hooksOf(agent);
  const lines = linesOf(agent, svc);
  if (buildPlugin === undefined)
    return `${JSON.stringify({ ...agent.start, hooks: byList(listEntries(lines)) }, null, 2)}\n`;
  const name = agent.agent;
  return `// ${MADE} ${name}; svc hooks remove ${name} removes it.\n${buildPlugin(lines)}`;
}

const MADE = 'Made by svc hooks install';

const isAlone = ({ format }: HookFile): boolean => format === 'own' || format === 'plugin';

const isOwn = ({ agent, format }: HookFile, present: string): boolean =>
  format === 'plugin' ? present.startsWith(`// ${MADE}`) : isOurs(present, agent);

const formatOf = ({ agent, format }: HookFile): HookText =>
  (format === 'toml' ? tomlHooks : jsonHooks)((value) => isOurs(value, agent));

const sameEntries = (one: readonly object[], other: readonly object[]): boolean =>
  isDeepStrictEqual(
    one.map((each) => JSON.stringify(each)).sort(),
    other.map((each) => JSON.stringify(each)).sort(),
  );

function readIfThere(file: string): string | undefined {
  if (!existsSync(file)) return undefined;
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new SvcError('config_invalid', `${file} cannot be read: ${(error as Error).message}`, {
      cause: error,
    });
  }
}

import { existsSync, lstatSync, readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { SvcError } from '../../engine/core/base/errors.ts';
import {
  findHookPlace,
  type HookFile,
  type HookProgram,
  loadAgentHooks,
  runsOurHook,
  writeHookLines,
} from './hook-files.ts';
import { createJsonHooks, createTomlHooks, groupByList, type HookText } from './hook-text.ts';
import type { InstallPlace } from './install.ts';

/** The entries of svc in an agent's file, and how they would change. */
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
 * Reads the agent's file without changing it. Without `svc` its hooks are removed. Throws `config_invalid` for a file
 * that cannot be read or extended, `exists` for a foreign file under our name, `usage` if the agent has none.
 */
export async function planHooks(
  agent: HookFile,
  place: InstallPlace,
  svc: HookProgram | null,
): Promise<HookPlan> {
  const file = findHookPlace(agent, place.scope, place);
  if (file === undefined) {
    throw new SvcError('usage', `${agent.agent} has no hooks for a single project`, {
      hint: '--user installs them for all folders',
    });
  }
  const present = readIfThere(file);
  if (hasOwnFile(agent)) return planOwnFile(agent, file, present, svc);
  const format = chooseFormat(agent);
  const wanted = svc === null ? [] : (await loadAgentHooks(agent)).listEntries(writeHookLines(agent, svc));
  const shown = format.show(wanted);
  if (present === undefined || present.trim() === '') {
    if (svc === null) return { file, change: 'none', shown, text: present ?? null };
    const text =
      agent.format === 'json'
        ? `${JSON.stringify({ ...agent.start, hooks: groupByList(wanted) }, null, 2)}\n`
        : format.put('', wanted);
    return { file, change: 'created', shown, text };
  }
  try {
    const before = format.find(present);
    const text = format.put(present, wanted);
    if (text === null) throw new SyntaxError('has hooks in a form that svc cannot edit');
    if (text === present || hasSameEntries(before, wanted))
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
          ? 'correct it, or remove the entries that run svc hook by hand'
          : `correct it, or add this by hand: ${shown.replace(/\s+/g, ' ')}`,
    });
  }
}

/** Reports whether the file of a scope runs `svc hook`. False for an unreadable file. */
export function hasHooks(agent: HookFile, place: InstallPlace): boolean {
  const file = findHookPlace(agent, place.scope, place);
  try {
    const text = file === undefined ? undefined : readIfThere(file);
    if (text === undefined) return false;
    return hasOwnFile(agent) ? isOwnFile(agent, text) : chooseFormat(agent).find(text).length > 0;
  } catch {
    return false;
  }
}

async function planOwnFile(
  agent: HookFile,
  file: string,
  present: string | undefined,
  svc: HookProgram | null,
): Promise<HookPlan> {
  if (present !== undefined && !isOwnFile(agent, present)) {
    if (svc === null) return { file, change: 'none', shown: '', text: present };
    throw new SvcError('exists', `${file} was not made by svc and stays unchanged`, {
      hint: 'rename it first',
    });
  }
  if (svc === null) {
    const change = present === undefined ? 'none' : 'removed';
    return { file, change, shown: present?.trimEnd() ?? '', text: null };
  }
  const text = await writeOwnFile(agent, svc);
  const change = present === undefined ? 'created' : present === text ? 'none' : 'replaced';
  return { file, change, shown: text.trimEnd(), text };
}

/** The whole file. */
async function writeOwnFile(agent: HookFile, svc: HookProgram): Promise<string> {
  const { listEntries, buildPlugin } = await loadAgentHooks(agent);
  const lines = writeHookLines(agent, svc);
  if (buildPlugin === undefined)
    return `${JSON.stringify({ ...agent.start, hooks: groupByList(listEntries(lines)) }, null, 2)}\n`;
  const name = agent.agent;
  return `// ${MADE} ${name}; svc hooks remove ${name} removes it.\n${buildPlugin(lines)}`;
}

const MADE = 'Made by svc hooks install';

const hasOwnFile = ({ format }: HookFile): boolean => format === 'own' || format === 'plugin';

const isOwnFile = ({ agent, format }: HookFile, present: string): boolean =>
  format === 'plugin' ? present.startsWith(`// ${MADE}`) : runsOurHook(present, agent);

const chooseFormat = ({ agent, format }: HookFile): HookText =>
  (format === 'toml' ? createTomlHooks : createJsonHooks)((value) => runsOurHook(value, agent));

const hasSameEntries = (one: readonly object[], other: readonly object[]): boolean =>
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

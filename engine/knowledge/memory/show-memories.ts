import { z } from 'zod';
import type { Caller } from '../../core/api/operation.ts';
import { sayMore } from '../../core/api/tool.ts';
import { formatAge, toPrintable } from '../../core/base/text.ts';
import type { NamedPath } from '../../core/workspace/workspace-path.ts';
import type { MemoryDeps } from './index.ts';
import { listMissingPaths } from './named-paths.ts';
import { listNamedSymbols } from './named-symbols.ts';
import type { Memory } from './rows.ts';

/** Maximum text of each memory in an answer; a memory requested by id is returned in full. */
const SHOWN_TEXT = 2000;

/** A memory in an answer. */
export const shownMemory = z.looseObject({
  id: z.string(),
  type: z.string(),
  title: z.string(),
  text: z.string(),
  age: z.string(),
});

/** Formats memories for callers: their age, and whether the named files and code still exist. */
export function createMemoryView({
  paths,
  callerPaths,
  clock,
  listUnknownNames,
}: Pick<MemoryDeps, 'paths' | 'callerPaths' | 'clock' | 'listUnknownNames'>) {
  function showMemory(
    each: Memory,
    caller: Caller,
    isWhole: boolean,
    unknown: ReadonlySet<string>,
    symbols: readonly string[],
  ) {
    const isCut = !isWhole && each.text.length > SHOWN_TEXT;
    const resolve = (path: string): NamedPath => callerPaths.resolveShared(path, caller);
    const missing = listMissingPaths(`${each.title}\n${each.text}`, resolve, paths.statOf);
    const unknownSymbols = symbols.filter((name) => unknown.has(name));
    return {
      id: each.id,
      type: each.type,
      title: each.title,
      text: isCut ? each.text.slice(0, SHOWN_TEXT).toWellFormed() : each.text,
      ...(isCut ? { text_chars: each.text.length } : {}),
      tags: each.tags,
      source: each.source,
      by: each.sessionId ?? each.actor,
      changed_at: each.changedAt,
      age: formatAge(each.changedAt, clock.now()),
      ...(missing.length === 0 ? {} : { missing_paths: missing }),
      ...(unknownSymbols.length === 0 ? {} : { unknown_symbols: unknownSymbols }),
      ...(each.unreviewed === null ? {} : { unreviewed: each.unreviewed }),
      ...(each.maybeReplacedBy === null ? {} : { maybe_replaced_by: each.maybeReplacedBy }),
    };
  }

  return (memories: readonly Memory[], caller: Caller, isWhole = false) => {
    const named = memories.map((each) => listNamedSymbols(`${each.title}\n${each.text}`));
    const names = [...new Set(named.flat())];
    const unknown = new Set(names.length === 0 ? [] : (listUnknownNames(names) ?? []));
    return memories.map((each, at) => showMemory(each, caller, isWhole, unknown, named[at] ?? []));
  };
}

export function sayMemories(memories: readonly z.output<typeof shownMemory>[], more: number): string {
  if (memories.length === 0) return 'nothing is remembered about it';
  const lines = memories.map((each) => {
    const { missing_paths: missing, unknown_symbols: unknown } = each;
    const facts = [
      each.type,
      `, ${each.age} old`,
      each.maybe_replaced_by === undefined ? '' : `; perhaps replaced by ${each.maybe_replaced_by}`,
      each.unreviewed === undefined ? '' : '; not reviewed by a person',
      Array.isArray(missing) ? `; no longer there: ${missing.join(', ')}` : '',
      Array.isArray(unknown) ? `; not in the code graph: ${unknown.join(', ')}` : '',
    ].join('');
    return `${each.id} ${toPrintable(each.title)} (${toPrintable(facts)})\n${indent(each.text)}`;
  });
  return [...lines, ...sayMore(more)].join('\n');
}

const indent = (text: string): string =>
  toPrintable(text, { lines: true })
    .split('\n')
    .map((line) => `  ${line}`)
    .join('\n');

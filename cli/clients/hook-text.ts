import { isDeepStrictEqual } from 'node:util';
import { parse, stringify } from 'smol-toml';
import type { HookEntry } from '../../engine/index.ts';
import { editJson, jsonFormat } from './json.ts';
import { tomlFormat } from './toml.ts';

/** Adds our entries to a text and removes them again; everything else stays unchanged. */
export interface HookText {
  /** Lists the hooks in it. Throws `SyntaxError` for an unreadable text. */
  find(text: string): HookEntry[];
  /** The text with exactly these entries of ours; null where that cannot be done in place. */
  put(text: string, entries: readonly HookEntry[]): string | null;
  show(entries: readonly HookEntry[]): string;
}

type Lists = Record<string, unknown>;
type IsOurs = (value: unknown) => boolean;

/** Removes our hooks from an entry; null when nothing is left. A person may have added others to the same group. */
function removeOurs(entry: unknown, isOurs: IsOurs): unknown {
  if (!isOurs(entry)) return entry;
  const { hooks } = entry as { hooks?: unknown };
  if (!Array.isArray(hooks)) return null;
  const others = hooks.filter((each) => !isOurs(each));
  return others.length === 0 ? null : { ...(entry as object), hooks: others };
}

export const createJsonHooks = (isOurs: IsOurs): HookText => {
  const listsOf = (text: string): Lists => {
    const lists = jsonFormat.find(text, ['hooks']) ?? {};
    if (typeof lists === 'object' && lists !== null && !Array.isArray(lists)) return lists as Lists;
    throw new SyntaxError('has hooks that are not lists by event');
  };
  const entriesOf = (list: unknown): unknown[] => (Array.isArray(list) ? list : []);
  const othersIn = (text: string): unknown => {
    const lists = Object.entries(listsOf(text)).flatMap(([list, value]) => {
      if (!Array.isArray(value)) return [[list, value] as const];
      const others = value.map((entry) => removeOurs(entry, isOurs)).filter((entry) => entry !== null);
      return others.length === 0 ? [] : [[list, others] as const];
    });
    return { ...(jsonFormat.find(text, []) as object), hooks: Object.fromEntries(lists) };
  };
  return {
    find: (text) =>
      Object.entries(listsOf(text)).flatMap(([list, value]) =>
        entriesOf(value)
          .filter(isOurs)
          .map((entry) => ({ list, entry: entry as HookEntry['entry'] })),
      ),
    put(text, entries) {
      let result = text;
      let lists = listsOf(text);
      const edit = (path: (string | number)[], value: unknown, isInsertion = false): void => {
        result = editJson(result, ['hooks', ...path], value, { isInsertion });
        lists = listsOf(result);
      };
      for (const list of Object.keys(lists)) {
        const kept = entries.filter((each) => each.list === list).map(({ entry }) => entry);
        // From the end, so that the places before stay the same.
        for (let index = entriesOf(lists[list]).length - 1; index >= 0; index -= 1) {
          const before = entriesOf(lists[list])[index];
          if (kept.some((entry) => isDeepStrictEqual(entry, before))) continue;
          const after = removeOurs(before, isOurs);
          if (after !== before) edit([list, index], after ?? undefined);
        }
        const isEmptied = entriesOf(listsOf(text)[list]).length > 0 && entriesOf(lists[list]).length === 0;
        if (isEmptied && kept.length === 0) edit([list], undefined);
      }
      for (const { list, entry } of entries) {
        if (entriesOf(lists[list]).some((each) => isDeepStrictEqual(each, entry))) continue;
        if (Array.isArray(lists[list])) edit([list, entriesOf(lists[list]).length], entry, true);
        else if (lists[list] === undefined) edit([list], [entry]);
        else return null;
      }
      if (
        entries.length === 0 &&
        Object.keys(lists).length === 0 &&
        jsonFormat.find(text, ['hooks']) !== undefined
      )
        result = editJson(result, ['hooks'], undefined, {});
      // Such as a duplicate key, which is read from one place and written to the other.
      const isSame = isDeepStrictEqual(othersIn(text), othersIn(result));
      return isSame && isDeepStrictEqual(sortEntries(this.find(result)), sortEntries(entries))
        ? result
        : null;
    },
    show: (entries) => JSON.stringify({ hooks: groupByList(entries) }, null, 2),
  };
};

const BEGIN = '# Made by svc hooks install: what is between these two lines is renewed as a whole.';
const END = '# The end of the hooks of svc.';

/** Tables can only be at the end of the file; ours are between two marker lines. */
export const createTomlHooks = (isOurs: IsOurs): HookText => {
  const showEntries = (entries: readonly HookEntry[]): string =>
    stringify({
      hooks: entries.every(({ list }) => list === '')
        ? entries.map(({ entry }) => entry)
        : groupByList(entries),
    }).trim();
  const found = (text: string): HookEntry[] => {
    const hooks = tomlFormat.find(text, ['hooks']);
    if (Array.isArray(hooks)) return hooks.filter(isOurs).map((entry) => ({ list: '', entry }));
    return Object.entries((hooks ?? {}) as Lists).flatMap(([list, value]) =>
      (Array.isArray(value) ? value : []).filter(isOurs).map((entry) => ({ list, entry })),
    );
  };
  return {
    find: found,
    put(text, entries) {
      const eol = text.includes('\r\n') ? '\r\n' : '\n';
      const begin = text.indexOf(BEGIN);
      const end = text.indexOf(END, begin);
      if ((begin === -1 || end === -1) && found(text).length > 0) return null;
      const before = (begin === -1 ? text : text.slice(0, begin)).trimEnd();
      const after = begin === -1 ? '' : text.slice(end + END.length).replace(/^(?:\r?\n)+/, '');
      const block =
        entries.length === 0 ? '' : [BEGIN, showEntries(entries), END].join('\n').replaceAll('\n', eol);
      const parts = [before, block].filter((part) => part !== '');
      const result = `${parts.join(eol + eol)}${parts.length > 0 ? eol : ''}${after === '' ? '' : eol + after}`;
      try {
        parse(result);
        return isDeepStrictEqual(sortEntries(found(result)), sortEntries(entries)) ? result : null;
      } catch {
        // Such as existing hooks in another form.
        return null;
      }
    },
    show: showEntries,
  };
};

const sortEntries = (entries: readonly HookEntry[]): string[] =>
  entries.map((each) => JSON.stringify(each)).sort();

export const groupByList = (entries: readonly HookEntry[]): Record<string, unknown[]> =>
  Object.fromEntries(
    [...new Set(entries.map(({ list }) => list))].map((list) => [
      list,
      entries.filter((each) => each.list === list).map(({ entry }) => entry),
    ]),
  );

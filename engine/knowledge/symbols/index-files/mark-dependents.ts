import { posix } from 'node:path';
import type { FileFacts } from '../facts.ts';
import { MEMBER_KINDS } from '../resolve/only-methods.ts';
import { ANY_FILE, ANY_PATH } from '../resolve/stored-project.ts';
import { digestFacts, hashName, listChangedNames } from '../store/digest.ts';
import type { GraphRows } from '../store/rows.ts';

export interface DependentMarker {
  /** Records that a file was added or removed: imports of that path may resolve differently. */
  addPath(path: string): void;
  /** Records that the content of a file changed; null for none. */
  addChange(id: number, before: FileFacts | null, after: FileFacts | null): void;
  /** Marks everything that depends on the collected changes. Belongs in the transaction that wrote the files. */
  flush(): void;
  /** Resets after references were resolved again: a name may now depend on another file. */
  reset(): void;
}

/**
 * Marks files with edges that depend on changed names. Folder and package names come with every file of a large
 * change, and many files depend on them, so each is marked once.
 */
export function createDependentMarker(rows: Pick<GraphRows, 'markDependents'>): DependentMarker {
  /** Names beyond a single file that were marked since references were resolved. */
  const marked = { [ANY_FILE]: new Set<number>(), [ANY_PATH]: new Set<number>() };
  const waiting: (readonly [on: number, name: number])[] = [];

  function addMarked(on: keyof typeof marked, name: string): void {
    const hash = hashName(name);
    if (marked[on].has(hash)) return;
    marked[on].add(hash);
    waiting.push([on, hash]);
  }

  return {
    addPath(path) {
      // An index or __init__ may stand for its folder.
      for (const part of path.split('/').slice(0, -1)) addMarked(ANY_PATH, part);
      addMarked(ANY_PATH, posix.basename(path).replace(/\.[^.]+$/, ''));
    },
    addChange(id, before, after) {
      const [old, now] = [before, after].map((facts) =>
        facts === null ? new Map<string, string>() : digestFacts(facts),
      ) as [Map<string, string>, Map<string, string>];
      const names = listChangedNames(old, now);
      for (const name of names) waiting.push([id, hashName(name)]);
      for (const name of listChangedNames(describeMembers(before), describeMembers(after)))
        addMarked(ANY_FILE, name);
      const packages = new Set([before?.packageName, after?.packageName]);
      const isSame = packages.size === 1 && old.size > 0 && now.size > 0;
      // Names that a package gains or loses affect all of it.
      for (const name of packages)
        if (name !== undefined && (!isSame || names.length > 0)) addMarked(ANY_PATH, `package ${name}`);
    },
    flush() {
      for (const [on, name] of waiting.splice(0)) rows.markDependents(on, name);
    },
    reset() {
      for (const names of Object.values(marked)) names.clear();
    },
  };
}

/** Returns members by name, as seen by callers on unknown values. */
function describeMembers(facts: FileFacts | null): Map<string, string> {
  const members = new Map<string, string[]>();
  for (const { kind, name, parent } of facts?.symbols ?? []) {
    if (!MEMBER_KINDS.includes(kind)) continue;
    const known = members.get(name);
    const said = `${kind} ${facts?.symbols[parent]?.kind ?? ''}`;
    if (known === undefined) members.set(name, [said]);
    else known.push(said);
  }
  return new Map([...members].map(([name, kinds]) => [name, kinds.sort().join()]));
}

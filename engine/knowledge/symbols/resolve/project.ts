import type { Language } from '../../sources/index.ts';
import type { FileFacts, SymbolFact } from '../facts.ts';

/** A file with what it says, in a form in which members are found by name. */
export interface FileView {
  id: number;
  path: string;
  language: Language;
  facts: FileFacts;
  /** Members of each symbol by name, in order. */
  members: Map<number, Map<string, number[]>>;
  /** Methods that are declared outside of their type, by its name and theirs. */
  owned: Map<string, Map<string, number[]>>;
  /** Exports by name; a name may stand for a value and a type. */
  exports: Map<string, number[]>;
}

/** What an import or a free name leads to: a file, something outside of the project, or nothing that is known. */
export type ModuleTarget = { file: FileView } | 'outside' | 'missing';

/** What resolution may ask of a project. Every answer is taken down as something that the asking file depends on. */
export interface Project {
  view(id: number): FileView | null;
  /** The file that an import of a file leads to. */
  resolveModule(from: FileView, specifier: string): ModuleTarget;
  /** All files of a package or namespace, as `packageName` and the language's rules have it. */
  filesOfPackage(from: FileView, name: string): FileView[];
  /** The folder of a package of Go by its import path; null for one outside of the project. */
  findGoPackage(from: FileView, path: string): string | null;
  /** A module of Python, `.`, `.a` or `a.b`: its file, or a folder of modules without one. */
  findPythonModule(
    from: FileView,
    name: string,
  ): { file: FileView } | { folder: string; from: FileView } | null;
  /** The module `name` of Rust that a module has in a file of its own. */
  findRustChild(from: FileView, name: string): FileView | null;
  findRustParent(from: FileView): FileView | null;
  /** The root of the crate of that name, null for the file's own. */
  findRustCrate(from: FileView, name: string | null): FileView | null;
  /** The method that a member of an unknown value is by its name; null unless that is the only thing of the project that may be called so. */
  findOnlyMethod(from: FileView, name: string): { file: number; index: number } | null;
  /** Takes down that the asking file depends on a name of a file. */
  use(file: FileView, name: string): void;
}

/** Languages whose methods stand outside of their types. */
export const DECLARES_OUTSIDE: ReadonlySet<string> = new Set(['go', 'rust']);

/** Indexes what a file says. */
export function createFileView(id: number, path: string, language: Language, facts: FileFacts): FileView {
  const members = new Map<number, Map<string, number[]>>();
  for (const [index, { parent, name }] of facts.symbols.entries()) {
    if (parent < 0) continue;
    let named = members.get(parent);
    if (named === undefined) {
      named = new Map();
      members.set(parent, named);
    }
    const known = named.get(name);
    if (known === undefined) named.set(name, [index]);
    else known.push(index);
  }
  const owned = new Map<string, Map<string, number[]>>();
  for (const [index, { owner, name }] of facts.symbols.entries()) {
    if (owner === undefined) continue;
    const named = owned.get(owner) ?? new Map<string, number[]>();
    owned.set(owner, named.set(name, [...(named.get(name) ?? []), index]));
  }
  const exports = new Map<string, number[]>();
  for (const [index, { name }] of facts.exports.entries()) {
    const known = exports.get(name);
    if (known === undefined) exports.set(name, [index]);
    else known.push(index);
  }
  return { id, path, language, facts, members, owned, exports };
}

/** The outermost symbol around one, below the file: what the file is known for. */
export function findRoot({ facts }: FileView, index: number): SymbolFact {
  let at = index;
  for (;;) {
    const { parent } = facts.symbols[at]!;
    if (parent <= 0) return facts.symbols[at]!;
    at = parent;
  }
}

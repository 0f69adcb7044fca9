import type { ValueEvaluator } from './evaluation.ts';
import type { NameRules, NameSpace } from './language-rules.ts';
import { spaceOf } from './package-names.ts';
import type { FileView, GraphProject } from './project.ts';
import { OUTSIDE_VALUE, type ResolvedValue, UNKNOWN_VALUE } from './values.ts';

/** Creates name resolution of Rust. */
export function createRustNames(project: GraphProject, evaluator: () => ValueEvaluator): NameRules {
  /** The files behind modules. */
  const files = new WeakMap<ResolvedValue, FileView>();

  /** Returns a Rust module: its declarations and re-exports, and submodules in separate files. */
  function rustModule(file: FileView): ResolvedValue {
    const module = spaceOf((name, space) => findInRust(file, name, space));
    files.set(module, file);
    return module;
  }

  const findInRust = (file: FileView, name: string, space: NameSpace): ResolvedValue | null =>
    evaluator().remember(`r${file.id}:${name}:${space}`, null, () => searchModules(file, name, space));

  /** Finds a name in a module and in those it imports everything of, each once: they may do so of each other. */
  function searchModules(start: FileView, name: string, space: NameSpace): ResolvedValue | null {
    const modules = new Set([start]);
    for (const file of modules) {
      const own = findDeclared(file, name, space);
      if (own !== null) return own;
      for (const each of file.facts.imports) {
        if (each.name !== '*' || each.from === 'super' || each.from.startsWith('super::')) continue;
        const from = findRustPath(file, each.from);
        const behind = from === null ? undefined : files.get(from);
        if (behind !== undefined) modules.add(behind);
        const found = from === null || behind !== undefined ? null : findIn(from, name, space);
        if (found !== null) return found;
      }
    }
    return null;
  }

  function findDeclared(file: FileView, name: string, space: NameSpace): ResolvedValue | null {
    const child = project.findRustChild(file, name);
    if (child !== null) return rustModule(child);
    const own = evaluator().findExport(file, name, space);
    if (own !== null) return own;
    project.use(file, name);
    const index = file.facts.imports.findIndex(({ local }) => local === name);
    return index < 0 ? null : evaluator().readImport(file, index, space);
  }

  const findIn = (value: ResolvedValue, name: string, space: NameSpace): ResolvedValue | null =>
    value.is === 'space' ? value.find(name, space) : (evaluator().findMember(value, name)?.value ?? null);

  const findRustPath = (file: FileView, path: string): ResolvedValue | null =>
    evaluator().remember(`R${file.id}:${path}`, null, () => followPath(file, path));

  function followPath(file: FileView, path: string): ResolvedValue | null {
    if (path === '') return spaceOf((name) => startOfPath(file, name));
    const [first = '', ...rest] = path.split('::');
    let at: ResolvedValue | null = startOfPath(file, first);
    for (const name of rest) {
      if (at === null || at.is === 'outside') return at;
      if (name === 'super' || name === 'self') return null;
      at = findIn(at, name, 'type');
    }
    return at;
  }

  function startOfPath(file: FileView, name: string): ResolvedValue | null {
    if (name === 'self') return rustModule(file);
    if (name === 'crate' || name === 'super') {
      const found = name === 'crate' ? project.findRustCrate(file, null) : project.findRustParent(file);
      return found === null ? OUTSIDE_VALUE : rustModule(found);
    }
    const child = project.findRustChild(file, name);
    if (child !== null) return rustModule(child);
    const crate = project.findRustCrate(file, name);
    if (crate !== null) return rustModule(crate);
    const own = evaluator().findExport(file, name, 'type');
    return own ?? OUTSIDE_VALUE;
  }

  return {
    importValue(file, index, space) {
      const { from, name } = file.facts.imports[index]!;
      const module = findRustPath(file, from);
      if (module === null) return UNKNOWN_VALUE;
      return findIn(module, name, space) ?? OUTSIDE_VALUE;
    },
    freeName(file, name, space) {
      if (['crate', 'super', 'self'].includes(name)) return startOfPath(file, name) ?? OUTSIDE_VALUE;
      for (const each of file.facts.imports) {
        const module = each.name === '*' ? findRustPath(file, each.from) : null;
        const found = module === null ? null : findIn(module, name, space);
        if (found !== null) return found;
      }
      return project.findRustCrate(file, name) === null
        ? OUTSIDE_VALUE
        : (startOfPath(file, name) ?? OUTSIDE_VALUE);
    },
    findInNamespace(file, index, name, space) {
      const child = project.findRustChild(file, file.facts.symbols[index]!.name);
      return child === null ? null : findInRust(child, name, space);
    },
  };
}

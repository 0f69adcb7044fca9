import type { ValueEvaluator } from './evaluation.ts';
import type { NameRules, NameSpace } from './language-rules.ts';
import { spaceOf } from './package-names.ts';
import type { FileView, GraphProject } from './project.ts';
import { OUTSIDE_VALUE, type ResolvedValue, UNKNOWN_VALUE } from './values.ts';

/** Creates name resolution of Rust. */
export function createRustNames(project: GraphProject, evaluator: () => ValueEvaluator): NameRules {
  /** Returns a Rust module: its declarations and re-exports, and submodules in separate files. */
  function rustModule(file: FileView): ResolvedValue {
    return spaceOf((name, space) => findInRust(file, name, space, 0));
  }

  // Files that import everything of each other are asked for the same names over and over.
  const findInRust = (file: FileView, name: string, space: NameSpace, depth: number): ResolvedValue | null =>
    evaluator().remember(`r${file.id}:${name}:${space}:${depth}`, () =>
      searchModule(file, name, space, depth),
    );

  function searchModule(file: FileView, name: string, space: NameSpace, depth: number): ResolvedValue | null {
    const child = project.findRustChild(file, name);
    if (child !== null) return rustModule(child);
    const own = evaluator().findExport(file, name, space);
    if (own !== null) return own;
    project.use(file, name);
    for (const [index, each] of file.facts.imports.entries())
      if (each.local === name) return evaluator().readImport(file, index, space);
    if (depth > 3) return null;
    for (const each of file.facts.imports) {
      if (each.name !== '*' || each.from === 'super' || each.from.startsWith('super::')) continue;
      const from = findRustPath(file, each.from);
      const found =
        from?.is === 'space'
          ? from.find(name, space)
          : from === null
            ? null
            : (evaluator().findMember(from, name)?.value ?? null);
      if (found !== null) return found;
    }
    return null;
  }

  const findRustPath = (file: FileView, path: string): ResolvedValue | null =>
    evaluator().remember(`R${file.id}:${path}`, () => followPath(file, path));

  function followPath(file: FileView, path: string): ResolvedValue | null {
    if (path === '') return spaceOf((name) => startOfPath(file, name));
    const [first = '', ...rest] = path.split('::');
    let at: ResolvedValue | null = startOfPath(file, first);
    for (const name of rest) {
      if (at === null || at.is === 'outside') return at;
      if (name === 'super' || name === 'self') return null;
      at = at.is === 'space' ? at.find(name, 'type') : (evaluator().findMember(at, name)?.value ?? null);
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
      const found =
        module.is === 'space' ? module.find(name, space) : evaluator().findMember(module, name)?.value;
      return found ?? OUTSIDE_VALUE;
    },
    freeName(file, name, space) {
      if (['crate', 'super', 'self'].includes(name)) return startOfPath(file, name) ?? OUTSIDE_VALUE;
      for (const each of file.facts.imports) {
        const module = each.name === '*' ? findRustPath(file, each.from) : null;
        const found =
          module?.is === 'space'
            ? module.find(name, space)
            : module == null
              ? null
              : evaluator().findMember(module, name)?.value;
        if (found != null) return found;
      }
      return project.findRustCrate(file, name) === null
        ? OUTSIDE_VALUE
        : (startOfPath(file, name) ?? OUTSIDE_VALUE);
    },
    findInNamespace(file, index, name, space) {
      const child = project.findRustChild(file, file.facts.symbols[index]!.name);
      return child === null ? null : findInRust(child, name, space, 0);
    },
  };
}

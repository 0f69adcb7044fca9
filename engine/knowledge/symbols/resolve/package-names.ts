import type { ValueEvaluator } from './evaluation.ts';
import type { NameRules, NameSpace } from './language-rules.ts';
import type { FileView, GraphProject } from './project.ts';
import { OUTSIDE_VALUE, type ResolvedValue } from './values.ts';

type FindName = (name: string, space: NameSpace) => ResolvedValue | null;

export const spaceOf = (find: FindName): ResolvedValue => ({ is: 'space', find });

/** Creates name resolution of languages with packages: Go, Java and its relatives. */
export function createPackageNames(
  project: GraphProject,
  evaluator: () => ValueEvaluator,
): Record<'go' | 'java' | 'csharp', NameRules> {
  /** Returns a name of a package. One that gains the name marks its users by itself. */
  function findInPackage(
    from: FileView,
    packageName: string,
    name: string,
    space: NameSpace,
  ): ResolvedValue | null {
    for (const file of project.filesOfPackage(from, packageName, name)) {
      const found = evaluator().findExport(file, name, space);
      if (found !== null) return found;
    }
    return null;
  }

  /** Returns a package by its name; null if it has no file in the project. */
  function packageSpace(from: FileView, name: string): ResolvedValue | null {
    return project.isPackage(from, name)
      ? spaceOf((wanted, space) => findInPackage(from, name, wanted, space))
      : null;
  }

  const go: NameRules = {
    importValue(file, index) {
      const { from } = file.facts.imports[index]!;
      const folder = project.findGoPackage(file, from);
      return (folder === null ? null : packageSpace(file, folder)) ?? OUTSIDE_VALUE;
    },
    freeName(file, name, space) {
      return findInPackage(file, file.facts.packageName ?? '', name, space) ?? OUTSIDE_VALUE;
    },
  };

  /** Returns `a.b.C`, and a member of a class instead of a class of a package. */
  function findDotted(file: FileView, from: string, name: string, space: NameSpace): ResolvedValue | null {
    const direct = findInPackage(file, from, name, space);
    if (direct !== null || !from.includes('.')) return direct;
    const parts = from.split('.');
    const outer = findInPackage(file, parts.slice(0, -1).join('.'), parts.at(-1)!, 'type');
    return outer === null ? null : (evaluator().findMember(outer, name)?.value ?? null);
  }

  const java: NameRules = {
    importValue(file, index, space) {
      const { from, name } = file.facts.imports[index]!;
      return findDotted(file, from, name, space) ?? OUTSIDE_VALUE;
    },
    freeName(file, name, space) {
      const own = findInPackage(file, file.facts.packageName ?? '', name, space);
      if (own !== null) return own;
      for (const each of file.facts.imports) {
        const found = each.name === '*' ? findDotted(file, each.from, name, space) : null;
        if (found !== null) return found;
      }
      return findFullName(file, name) ?? OUTSIDE_VALUE;
    },
  };

  /** Returns the start of `a.b.C`, a name with its package; null if no package of the project starts like that. */
  function findFullName(file: FileView, prefix: string): ResolvedValue | null {
    if (!project.hasPackage(prefix)) return null;
    return spaceOf(
      (name, space) =>
        findInPackage(file, prefix, name, space) ?? findFullName(file, `${prefix}.${name}`) ?? OUTSIDE_VALUE,
    );
  }

  const csharp: NameRules = {
    importValue: java.importValue,
    freeName(file, name, space) {
      // The file's namespace, enclosing namespaces, and used namespaces.
      const parts = (file.facts.packageName ?? '').split('.');
      const around = parts.map((_, at) => parts.slice(0, parts.length - at).join('.'));
      const used = file.facts.imports.filter((each) => each.name === '*').map((each) => each.from);
      for (const each of [...around, '', ...used]) {
        const found = findInPackage(file, each, name, space);
        if (found !== null) return found;
      }
      return OUTSIDE_VALUE;
    },
  };

  return { go, java, csharp };
}

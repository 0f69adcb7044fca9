import type { ExpressionFact, SymbolFact, TypeExpr } from '../facts.ts';
import type { NameRules, NameSpace } from './language-rules.ts';
import { DECLARES_OUTSIDE, type FileView, findRoot, type GraphProject } from './project.ts';
import {
  joinValues,
  type ResolvedValue,
  type SymbolValue,
  type TypeSubstitution,
  UNKNOWN_VALUE,
} from './values.ts';

/** A found member, and how it was found. */
export interface FoundMember {
  value: ResolvedValue;
  /** True if the class itself has it, not a base class. */
  isOwn: boolean;
}

/** The part of evaluation that member lookup needs. */
interface MemberDeps {
  project: GraphProject;
  rulesOf(file: FileView): NameRules;
  evaluate(file: FileView, expr: ExpressionFact): ResolvedValue;
  evaluateType(file: FileView, type: TypeExpr, owner?: TypeSubstitution | null): ResolvedValue;
  lookUpType(file: FileView, named: ExpressionFact): ResolvedValue;
  settle(value: SymbolValue): ResolvedValue;
  guard(key: string, follow: () => ResolvedValue): ResolvedValue;
  spendWork(): void;
}

/** Symbols that stand for their content. */
export const HOLDS: ReadonlySet<string> = new Set(['variable', 'field']);
/** Languages in which classes and objects have different members. */
const HAS_STATIC: ReadonlySet<string> = new Set(['typescript', 'tsx', 'javascript', 'java', 'csharp']);

/** Finds the members of values, classes and files by name. */
export function createMemberFinder({
  project,
  rulesOf,
  evaluate,
  evaluateType,
  lookUpType,
  settle,
  guard,
  spendWork,
}: MemberDeps) {
  const symbolAt = (file: FileView, index: number): SymbolFact => file.facts.symbols[index]!;

  /** Finds a member of a value by name; null if the project is not known to have one. */
  function findMember(value: ResolvedValue, name: string, space: NameSpace = 'value'): FoundMember | null {
    spendWork();
    switch (value.is) {
      case 'symbol':
        return findStatic(value, name);
      case 'instance':
        return findInherited(value, name);
      case 'module': {
        const found = findExport(value.file, name, space);
        return found === null ? null : { value: found, isOwn: true };
      }
      case 'space': {
        const found = value.find(name, space);
        return found === null ? null : { value: found, isOwn: true };
      }
      case 'object':
        return findInObject(value.file, value.index, name);
      case 'many':
        if (value.isRecord) return { value: value.of, isOwn: false };
        return { value: { is: 'method', of: value, name }, isOwn: false };
      case 'list':
      case 'promise':
        return { value: { is: 'method', of: value, name }, isOwn: false };
      case 'either': {
        const found = value.values.flatMap((each) => findMember(each, name, space) ?? []);
        if (found.length === 0) return null;
        return { value: joinValues(found.map((each) => each.value)), isOwn: false };
      }
      default:
        return null;
    }
  }

  function findStatic(value: Extract<ResolvedValue, { is: 'symbol' }>, name: string): FoundMember | null {
    const { file, index } = value;
    const fact = symbolAt(file, index);
    project.use(file, findRoot(file, index).name);
    if (HOLDS.has(fact.kind)) {
      const held = settle(value);
      const found = guardMember(`V${file.id}:${index}:${name}`, () => findMember(held, name));
      return found ?? findMerged(file, index, name);
    }
    const all = fact.kind === 'namespace' || fact.kind === 'enum' || !HAS_STATIC.has(file.language);
    const found = (file.members.get(index)?.get(name) ?? []).find(
      (each) => all || symbolAt(file, each).isStatic,
    );
    if (found !== undefined) return { value: { is: 'symbol', file, index: found }, isOwn: true };
    if (fact.kind === 'namespace') {
      const elsewhere = rulesOf(file).findInNamespace?.(file, index, name, 'value') ?? null;
      return elsewhere === null ? findMerged(file, index, name) : { value: elsewhere, isOwn: true };
    }
    const owned = findOwned(file, fact.name, name, null) ?? findMerged(file, index, name);
    if (owned !== null) return owned;
    if (fact.kind !== 'class') return null;
    return guardMember(`S${file.id}:${index}:${name}`, () => {
      for (const base of fact.bases ?? []) {
        const meant = base[0] === 'r' ? lookUpType(file, base[1]) : UNKNOWN_VALUE;
        const inherited = meant.is === 'symbol' ? findStatic(meant, name) : null;
        if (inherited !== null) return { ...inherited, isOwn: false };
      }
      return null;
    });
  }

  /** Returns a method declared outside its type, in the same file or package. */
  function findOwned(
    file: FileView,
    type: string,
    name: string,
    owner: TypeSubstitution | null,
  ): FoundMember | null {
    if (!DECLARES_OUTSIDE.has(file.language)) return null;
    const lookUpMember = (at: FileView): FoundMember | null => {
      project.use(at, name);
      const [index] = at.owned.get(type)?.get(name) ?? [];
      return index === undefined ? null : { value: { is: 'symbol', file: at, index, owner }, isOwn: true };
    };
    const own = lookUpMember(file);
    if (own !== null) return own;
    for (const each of project.filesOfPackage(file, file.facts.packageName ?? '')) {
      const found = each === file ? null : lookUpMember(each);
      if (found !== null) return found;
    }
    return null;
  }

  /** Finds a merged part: a namespace may have several parts, and extend a function or a class of the same name. */
  function findMerged(file: FileView, index: number, name: string): FoundMember | null {
    const { name: own, parent, kind } = symbolAt(file, index);
    for (const other of file.members.get(parent)?.get(own) ?? []) {
      if (kind !== 'namespace' && symbolAt(file, other).kind !== 'namespace') continue;
      const [found] = other === index ? [] : (file.members.get(other)?.get(name) ?? []);
      if (found !== undefined) return { value: { is: 'symbol', file, index: found }, isOwn: true };
    }
    return null;
  }

  function guardMember(key: string, work: () => FoundMember | null): FoundMember | null {
    let found: FoundMember | null = null;
    guard(key, () => {
      found = work();
      return UNKNOWN_VALUE;
    });
    return found;
  }

  function findInherited(
    value: Extract<ResolvedValue, { is: 'instance' }>,
    name: string,
  ): FoundMember | null {
    const { file, index, types } = value;
    project.use(file, findRoot(file, index).name);
    const fact = symbolAt(file, index);
    const owner: TypeSubstitution = { file, symbol: index, values: types };
    // If a bare name denotes a member, it may belong to the class itself.
    const isBare = file.language === 'java' || file.language === 'csharp';
    const own = (file.members.get(index)?.get(name) ?? []).find(
      (each) => isBare || !symbolAt(file, each).isStatic,
    );
    if (own !== undefined) {
      // The type of a literal determines its parameters.
      return { value: { is: 'symbol', file, index: own, owner }, isOwn: true };
    }
    const owned = findOwned(file, fact.name, name, owner);
    if (owned !== null) return owned;
    return guardMember(`I${file.id}:${index}:${name}`, () => {
      for (const base of fact.bases ?? []) {
        const inherited = findMember(evaluateType(file, base, owner), name);
        if (inherited !== null) return { ...inherited, isOwn: false };
      }
      return null;
    });
  }

  function findInObject(file: FileView, index: number, name: string): FoundMember | null {
    const { members, spreads } = file.facts.objects[index]!;
    const member = Object.hasOwn(members, name) ? members[name] : undefined;
    if (member !== undefined) return { value: evaluate(file, member), isOwn: true };
    // `next = { ...next, more }`: an object may be spread into a value for the same variable.
    return guardMember(`O${file.id}:${index}:${name}`, () => {
      for (const spread of spreads) {
        const found = findMember(evaluate(file, spread), name);
        if (found !== null) return found;
      }
      return null;
    });
  }

  const TYPES = new Set(['class', 'interface', 'type', 'enum', 'namespace']);
  const VALUES = new Set(['function', 'class', 'variable', 'enum', 'namespace', 'method', 'field']);

  /** Returns an export of a file by name, through re-exporting files. */
  function findExport(file: FileView, name: string, space: NameSpace): ResolvedValue | null {
    project.use(file, name);
    let found: ResolvedValue | null = null;
    for (const index of file.exports.get(name) ?? []) {
      const { value } = file.facts.exports[index]!;
      const meant = space === 'type' ? lookUpType(file, value) : evaluate(file, value);
      const kind = meant.is === 'symbol' ? symbolAt(meant.file, meant.index).kind : null;
      if (kind === null || (space === 'type' ? TYPES : VALUES).has(kind)) return meant;
      found ??= meant;
    }
    if (found !== null || name === 'default') return found;
    return findPassedOn(file, name, space);
  }

  function findPassedOn(file: FileView, name: string, space: NameSpace): ResolvedValue | null {
    // Also if it re-exports nothing yet.
    project.use(file, '*');
    const all = file.exports.get('*') ?? [];
    let found: ResolvedValue | null = null;
    for (const index of all) {
      const { value } = file.facts.exports[index]!;
      guard(`*${file.id}:${index}:${name}:${space}`, () => {
        const meant = evaluate(file, value);
        if (meant.is === 'module') found = findExport(meant.file, name, space);
        return UNKNOWN_VALUE;
      });
      if (found !== null) return found;
    }
    return null;
  }

  return { findMember, findExport };
}

import { isFunction } from '../facts.ts';
import { type FoundMember, HOLDS, type MemberUse, type ValueEvaluation } from './evaluation.ts';
import { DECLARES_OUTSIDE, type FileView, findRoot, type GraphProject, symbolAt } from './project.ts';
import { joinValues, type ResolvedValue, type TypeSubstitution, UNKNOWN_VALUE } from './values.ts';

/** Languages in which classes and objects have different members. */
const HAS_STATIC: ReadonlySet<string> = new Set(['typescript', 'tsx', 'javascript', 'java', 'csharp']);

/** Languages in which a field and a method may have the same name. */
const HAS_BOTH: ReadonlySet<string> = new Set(['java', 'rust', 'swift', 'kotlin', 'csharp', 'cpp']);

/** Selects one of the members of one name: a call means a method, never a field while there is another. */
function pickMember(file: FileView, all: readonly number[], use: MemberUse): number | undefined {
  if (!HAS_BOTH.has(file.language)) return all[0];
  const isMethod = (index: number): boolean => isFunction(symbolAt(file, index));
  return use === 'call' ? all.find(isMethod) : (all.find((index) => !isMethod(index)) ?? all[0]);
}

/** Finds the members of values and classes by name. */
export function createMemberFinder(parts: ValueEvaluation): Pick<ValueEvaluation, 'findMember'> {
  const { project, rulesOf, spendWork } = parts;

  function findMember(value: ResolvedValue, name: string, use: MemberUse = 'value'): FoundMember | null {
    spendWork();
    const space = use === 'call' ? 'value' : use;
    switch (value.is) {
      case 'symbol':
        return findStatic(value, name, use);
      case 'instance':
        return findInherited(value, name, use);
      case 'module': {
        const found = parts.findExport(value.file, name, space);
        return found === null ? null : { value: found, isOwn: true };
      }
      case 'space': {
        const found = value.find(name, space);
        return found === null ? null : { value: found, isOwn: true };
      }
      case 'object':
        return findInObject(parts, value.file, value.index, name);
      case 'many':
        if (value.isRecord) return { value: value.of, isOwn: false };
        return { value: { is: 'method', of: value, name }, isOwn: false };
      case 'list':
      case 'promise':
        return { value: { is: 'method', of: value, name }, isOwn: false };
      case 'either': {
        const found = value.values.flatMap((each) => findMember(each, name, use) ?? []);
        if (found.length === 0) return null;
        return { value: joinValues(found.map((each) => each.value)), isOwn: false };
      }
      default:
        return null;
    }
  }

  function findStatic(
    value: Extract<ResolvedValue, { is: 'symbol' }>,
    name: string,
    use: MemberUse,
  ): FoundMember | null {
    const { file, index } = value;
    const fact = symbolAt(file, index);
    project.use(file, findRoot(file, index).name);
    if (HOLDS.has(fact.kind)) {
      // `A.b = function …` adds to the object of a variable.
      const own = (file.members.get(index)?.get(name) ?? []).find((each) => symbolAt(file, each).isStatic);
      if (own !== undefined) return { value: { is: 'symbol', file, index: own }, isOwn: true };
      const found = guardMember(parts, `V${file.id}:${index}:${name}`, () =>
        findMember(parts.valueOfSymbol(value), name, use),
      );
      return found ?? findMerged(file, index, name);
    }
    const all = fact.kind === 'namespace' || fact.kind === 'enum' || !HAS_STATIC.has(file.language);
    const own = (file.members.get(index)?.get(name) ?? []).filter(
      (each) => all || symbolAt(file, each).isStatic,
    );
    const found = pickMember(file, own, use);
    if (found !== undefined) return { value: { is: 'symbol', file, index: found }, isOwn: true };
    if (fact.kind === 'namespace') {
      const elsewhere = rulesOf(file).findInNamespace?.(file, index, name, 'value') ?? null;
      return elsewhere === null ? findMerged(file, index, name) : { value: elsewhere, isOwn: true };
    }
    const owned = findOwned(project, file, fact.name, name, null) ?? findMerged(file, index, name);
    if (owned !== null) return owned;
    if (fact.kind !== 'class') return null;
    return guardMember(parts, `S${file.id}:${index}:${name}`, () => {
      for (const base of fact.bases ?? []) {
        const meant = base[0] === 'r' ? parts.lookUpType(file, base[1]) : UNKNOWN_VALUE;
        const inherited = meant.is === 'symbol' ? findStatic(meant, name, use) : null;
        if (inherited !== null) return { ...inherited, isOwn: false };
      }
      return null;
    });
  }

  function findInherited(
    value: Extract<ResolvedValue, { is: 'instance' }>,
    name: string,
    use: MemberUse,
  ): FoundMember | null {
    const { file, index, types } = value;
    project.use(file, findRoot(file, index).name);
    const fact = symbolAt(file, index);
    const owner: TypeSubstitution = { file, symbol: index, values: types };
    // If a bare name denotes a member, it may belong to the class itself.
    const isBare = file.language === 'java' || file.language === 'csharp';
    const all = (file.members.get(index)?.get(name) ?? []).filter(
      (each) => isBare || !symbolAt(file, each).isStatic,
    );
    // The type of a literal determines its parameters.
    const take = (own: number): FoundMember => ({
      value: { is: 'symbol', file, index: own, owner },
      isOwn: true,
    });
    const own = pickMember(file, all, use);
    if (own !== undefined) return take(own);
    const owned = findOwned(project, file, fact.name, name, owner);
    if (owned !== null) return owned;
    const inherited = guardMember(parts, `I${file.id}:${index}:${name}`, () => {
      for (const base of fact.bases ?? []) {
        const found = findMember(parts.evaluateType(file, base, owner), name, use);
        if (found !== null) return { ...found, isOwn: false };
      }
      return null;
    });
    return inherited ?? (all[0] === undefined ? null : take(all[0]));
  }

  return { findMember };
}

/** Returns a method declared outside its type, in the same file or package. */
function findOwned(
  project: GraphProject,
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
  for (const each of project.filesOfPackage(file, file.facts.packageName ?? '', null)) {
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

function guardMember(
  { guard }: ValueEvaluation,
  key: string,
  work: () => FoundMember | null,
): FoundMember | null {
  let found: FoundMember | null = null;
  guard(key, () => {
    found = work();
    return UNKNOWN_VALUE;
  });
  return found;
}

function findInObject(
  parts: ValueEvaluation,
  file: FileView,
  index: number,
  name: string,
): FoundMember | null {
  const { members, spreads } = file.facts.objects[index]!;
  const member = Object.hasOwn(members, name) ? members[name] : undefined;
  if (member !== undefined) return { value: parts.evaluate(file, member), isOwn: true };
  // `next = { ...next, more }`: an object may be spread into a value for the same variable.
  return guardMember(parts, `O${file.id}:${index}:${name}`, () => {
    for (const spread of spreads) {
      const found = parts.findMember(parts.evaluate(file, spread), name);
      if (found !== null) return found;
    }
    return null;
  });
}

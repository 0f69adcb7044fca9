import type { ReferenceEdge } from '../edges.ts';
import { type ExpressionFact, isBareName, type ReferenceFact, type ReferenceKind } from '../facts.ts';
import { HOLDS, type ValueEvaluator } from './evaluation.ts';
import { createOriginFinder } from './origins.ts';
import { createOverloadChooser } from './overloads.ts';
import { type FileView, type GraphProject, IS_ECMA, symbolAt } from './project.ts';
import { createTargetFinder, type FoundTarget } from './reference-target.ts';

/** Creates the resolution of what a reference names. */
function createExpressionResolver(project: GraphProject, evaluator: ValueEvaluator) {
  const { evaluate, lookUpType, findMember, findCalled } = evaluator;
  const { findHeld, found } = createTargetFinder(evaluator);
  const { startsOutside } = createOriginFinder(evaluator);

  function resolveMember(
    file: FileView,
    object: ExpressionFact,
    name: string,
    kind: ReferenceKind,
  ): FoundTarget | null {
    const value = evaluate(file, object);
    const member = kind === 'call' ? findCalled(file, value, name) : findMember(value, name);
    if (member !== null) {
      if (value.is === 'module' || value.is === 'space') return found(member.value, 1, 'import');
      if (object[0] === 'self' || object[0] === 'super')
        return found(member.value, member.isOwn ? 1 : 0.7, 'self');
      if (value.is === 'symbol') {
        const fact = symbolAt(value.file, value.index);
        // A named class, enum or namespace is as certain as an import, and so is what stands for one.
        const isNamed = !HOLDS.has(fact.kind) || fact.init?.[0] === 'i';
        return found(member.value, isNamed && member.isOwn ? 1 : 0.7, isNamed ? 'import' : 'type');
      }
      return found(member.value, 0.7, 'type');
    }
    return value.is === 'unknown' ? resolveByName(file, object, name) : null;
  }

  /** Returns the last resort: a member of an unknown value, if only one symbol of the project has that name. */
  function resolveByName(file: FileView, object: ExpressionFact, name: string): FoundTarget | null {
    if (COMMON_MEMBERS.has(name) || !GUESSES.has(file.language)) return null;
    const to = project.findOnlyMethod(file, name);
    return to === null || startsOutside(file, object)
      ? null
      : { to, confidence: 0.4, strategy: 'name', candidates: 1 };
  }

  function resolveExpression(file: FileView, expr: ExpressionFact, kind: ReferenceKind): FoundTarget | null {
    const isType = kind === 'type' || kind === 'inherit';
    switch (expr[0]) {
      case 's':
        return { to: { file: file.id, index: expr[1] }, confidence: 1, strategy: 'local', candidates: 1 };
      case 'i':
        return found(isType ? lookUpType(file, expr) : evaluate(file, expr), 1, 'import');
      case 'g':
        return found(isType ? lookUpType(file, expr) : evaluate(file, expr), 1, 'package');
      case 'm':
        return isType
          ? found(lookUpType(file, expr), 1, 'import')
          : resolveMember(file, expr[1], expr[2], kind);
      case 'l': {
        const behind = file.facts.locals[expr[1]] ?? (['?'] as const);
        const value = kind === 'call' ? findHeld(evaluate(file, expr)) : evaluate(file, expr);
        const isModule = behind[0] === 'm' && ['module', 'space'].includes(evaluate(file, behind[1]).is);
        return found(value, isModule || behind[0] === 'i' ? 1 : 0.7, 'alias');
      }
      case '|': {
        // A bare name: of the enclosing classes, otherwise of the package.
        const ways = expr.slice(1) as ExpressionFact[];
        const last = ways.at(-1);
        if (!isBareName(expr) || last === undefined) return found(evaluate(file, expr), 0.7, 'type');
        for (const way of ways.slice(0, -1)) {
          const own = way[0] === 'm' ? resolveMember(file, way[1], way[2], kind) : null;
          if (own !== null) return own;
        }
        return resolveExpression(file, last, kind);
      }
      case 'super': {
        const base = evaluate(file, expr);
        return base.is === 'instance'
          ? { to: { file: base.file.id, index: base.index }, confidence: 1, strategy: 'self', candidates: 1 }
          : null;
      }
      default:
        return found(evaluate(file, expr), 0.7, 'type');
    }
  }

  return resolveExpression;
}

/** Collects the edges from a file, the most certain one of each kind between two symbols. */
function createEdgeList(isUsed: (way: FoundTarget, kind: ReferenceKind) => boolean, file: FileView) {
  const edges = new Map<string, ReferenceEdge>();
  const shared: ReferenceEdge[] = [];
  const keyOf = ({ from, to, kind }: ReferenceEdge): string => `${from} ${to.file} ${to.index} ${kind}`;

  function put(edge: ReferenceEdge): void {
    const known = edges.get(keyOf(edge));
    if (known === undefined || known.confidence < edge.confidence)
      edges.set(keyOf(edge), { ...edge, line: known?.line ?? edge.line });
  }

  return {
    add(way: FoundTarget, [kind, , line, from]: ReferenceFact): void {
      if (!isUsed(way, kind)) return;
      const isItself = way.to.file === file.id && way.to.index === from;
      // A name alone more likely means the same method of another class, to which this one passes on.
      if (isItself && (kind === 'type' || way.strategy === 'name')) return;
      const edge = { ...way, from, kind, line };
      if (way.strategy === 'overload') shared.push(edge);
      else put(edge);
    },
    /** Returns all of them. An edge for several overloads must not replace that of one of them. */
    finish(): ReferenceEdge[] {
      for (const edge of shared) {
        const free = [edge.to, ...(edge.others ?? [])].find(
          (to) => (edges.get(keyOf({ ...edge, to }))?.strategy ?? 'overload') === 'overload',
        );
        if (free !== undefined) put({ ...edge, to: free });
      }
      return [...edges.values()];
    },
  };
}

export interface ResolvedReferences {
  edges: ReferenceEdge[];
  unresolved: number;
  /** Number of unresolved references by the name of a member that they mention. */
  mentions: ReadonlyMap<string, number>;
}

/** Resolves the references of a file one by one. */
export function createReferenceResolver(project: GraphProject, evaluator: ValueEvaluator) {
  const resolveExpression = createExpressionResolver(project, evaluator);
  const chooseOverload = createOverloadChooser(project, evaluator);
  const { findMention } = createOriginFinder(evaluator);

  /** Resolves a reference; unexpected code resolves to nothing, and does not abort the other references of the file. */
  function resolveOrGiveUp(file: FileView, [kind, expr, , , args]: ReferenceFact): FoundTarget[] {
    evaluator.beginReference();
    try {
      const way = resolveExpression(file, expr, kind);
      if (way === null) return [];
      const behind = kind === 'type' ? null : followAlias(way);
      if (kind === 'call' && behind === null && isHeldByField(way)) return [];
      const [first, ...others] = behind ?? [way];
      if (first === undefined) return [];
      const chosen = args === undefined ? first : chooseOverload(file, first, kind, args);
      return chosen === null ? [] : [chosen, ...others];
    } catch {
      return [];
    }
  }

  /** Returns the function or class that a variable or field names, and the variable unless it only stands for an import, with none for one from outside; null for anything else. */
  function followAlias(way: FoundTarget): FoundTarget[] | null {
    const view = project.view(way.to.file);
    if (view === null) return null;
    const { kind, type, init } = symbolAt(view, way.to.index);
    if (!HOLDS.has(kind) || type !== undefined || init === undefined || !IS_NAME.has(init[0])) return null;
    const held = evaluator.settle({ is: 'symbol', file: view, index: way.to.index });
    const isImport = init[0] === 'i' || (init[0] === 'm' && init[1][0] === 'i');
    // Like a name that is imported from outside, its variable has no callers.
    if (isImport && held.is === 'outside') return [];
    if (held.is !== 'symbol' || HOLDS.has(symbolAt(held.file, held.index).kind)) return null;
    const behind: FoundTarget = { ...way, to: { file: held.file.id, index: held.index }, strategy: 'alias' };
    return isImport || kind === 'field' ? [behind] : [behind, way];
  }

  /** Reports whether a call ends at a field: outside of scripts, whose fields have the type of their function, it calls a value. */
  function isHeldByField({ to }: FoundTarget): boolean {
    const view = project.view(to.file);
    return view !== null && !IS_ECMA.has(view.language) && symbolAt(view, to.index).kind === 'field';
  }

  /** Reports whether a reference is shown: variables and fields as mere values are not. */
  function isShown(way: FoundTarget, kind: ReferenceKind): boolean {
    const fact = project.view(way.to.file)?.facts.symbols[way.to.index];
    return fact !== undefined && !(kind === 'value' && (fact.kind === 'field' || fact.kind === 'variable'));
  }

  /** Returns the name that an unresolved reference mentions, after too much work for its value none. */
  function findMentionOrNone(file: FileView, reference: ReferenceFact): string | null {
    try {
      return findMention(file, reference);
    } catch {
      return null;
    }
  }

  return {
    /** Returns the edges from a file; references without a target are counted, and by name those that may mean anything. */
    resolveFile(file: FileView): ResolvedReferences {
      const edges = createEdgeList(isShown, file);
      const mentions = new Map<string, number>();
      let unresolved = 0;
      evaluator.beginFile();
      for (const reference of file.facts.references) {
        const ways = resolveOrGiveUp(file, reference);
        for (const way of ways) edges.add(way, reference);
        if (ways.length > 0) continue;
        unresolved += 1;
        const name = findMentionOrNone(file, reference);
        if (name !== null) mentions.set(name, (mentions.get(name) ?? 0) + 1);
      }
      return { edges: edges.finish(), unresolved, mentions };
    },
  };
}

/** Languages in which, judged by a compiler, a unique name is right in 60 % of all cases or more. */
const GUESSES: ReadonlySet<string> = new Set(['typescript', 'tsx', 'javascript', 'python', 'go', 'java']);

/** Values that are the name of something else. */
const IS_NAME: ReadonlySet<string> = new Set(['s', 'i', 'm', 'l']);

/** Members of built-in objects: a project's member of the same name is rarely meant. */
const COMMON_MEMBERS = new Set(
  'constructor toString valueOf hasOwnProperty length size name push pop shift unshift slice splice concat join reverse sort map filter reduce forEach find findIndex some every includes indexOf lastIndexOf flat flatMap fill keys values entries at get set has add delete clear then catch finally call apply bind next return throw split replace replaceAll match matchAll test exec trim trimStart trimEnd startsWith endsWith padStart padEnd charAt charCodeAt codePointAt substring substr toLowerCase toUpperCase normalize repeat search localeCompare log warn error info debug on once off emit addListener removeListener addEventListener removeEventListener write end pipe read close open send json text status parse stringify from of isArray assign freeze create max min floor ceil round abs random now append update copy items extend insert remove index count format strip lower upper encode decode print run start stop reset init close flush peek equals hashCode compareTo clone unwrap expect iter collect len is_empty push_str to_string to_owned into as_ref as_mut ok err'.split(
    ' ',
  ),
);

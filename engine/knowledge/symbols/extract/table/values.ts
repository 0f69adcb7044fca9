import { type ExpressionFact, UNKNOWN } from '../../facts.ts';
import type { NodeId } from '../nodes.ts';
import { createScope, findType } from '../scope.ts';
import { TABLE_CALL_READERS } from './calls.ts';
import { EXPRESSION_READERS } from './expressions.ts';
import { COMPREHENSIONS, LAMBDAS, LITERALS, NAMES, SELF_WORDS, SUPER_WORDS } from './kinds.ts';
import { OPERATOR_READERS, readLiteral } from './operators.ts';
import {
  firstResult,
  type TablePlace,
  type TableReader,
  type TableReaders,
  type TableWalk,
} from './place.ts';
import { VARIABLE_READERS } from './variables.ts';

/** Reads expressions and statements for the references in them. */
export function createTableValueReader(walk: TableWalk): Pick<TableWalk, 'readValue'> {
  const { nodes, language, symbols, declared, types } = walk;

  function readValue(node: NodeId, place: TablePlace): ExpressionFact {
    const symbol = declared.get(node);
    if (symbol !== undefined) return readDeclared(walk, node, symbol, place);
    const kind = nodes.kindOf(node);
    const value = READERS.get(kind)?.(walk, node, place) ?? null;
    if (value !== null) return value;
    if (walk.memberOf(node) !== null) return walk.readTarget(node, place);
    if (types.isType(kind)) {
      types.readType(node, place);
      return UNKNOWN;
    }
    return readOther(node, kind, place);
  }

  /** Reads a node of any other kind: in a block or a body, its last expression may be its value. */
  function readOther(node: NodeId, kind: string, place: TablePlace): ExpressionFact {
    const isBlock = /block|body|^declaration_list$/.test(kind);
    const inner =
      isBlock &&
      symbols[place.symbol]!.kind !== 'class' &&
      language !== 'python' &&
      language !== 'ruby' &&
      language !== 'php'
        ? { ...place, scope: createScope(place.scope) }
        : place;
    let last: ExpressionFact = UNKNOWN;
    for (const child of nodes.childrenOf(node)) last = readValue(child, inner);
    return isBlock && language === 'rust' && !nodes.textOf(node).trimEnd().endsWith(';}') ? last : UNKNOWN;
  }

  return { readValue };
}

function readDeclared(walk: TableWalk, node: NodeId, symbol: number, place: TablePlace): ExpressionFact {
  const { kind, owner } = walk.symbols[symbol]!;
  const own = owner === undefined ? null : findType(walk.top, owner);
  const self = own?.[0] === 'r' && own[1][0] === 's' ? own[1][1] : place.self;
  if (kind === 'function' || kind === 'method') walk.readFunction(node, symbol, { ...place, self });
  else walk.readClass(node, symbol, place);
  return UNKNOWN;
}

function readName(walk: TableWalk, node: NodeId, place: TablePlace): ExpressionFact {
  // Kotlin's grammar has no other nodes for these.
  if (walk.language === 'kotlin' && /^(?:true|false|null)$/.test(walk.nodes.textOf(node)))
    return readLiteral(walk, node, place);
  const value = walk.nameValue(node, place);
  if (value[0] === 's' || value[0] === 'i') walk.collector.addReference('value', value, node, place.symbol);
  return value;
}

/** Reads everything inside for the references, and returns a fixed value. */
const readInside =
  (value: ExpressionFact): TableReader =>
  (walk, node, place) => {
    for (const child of walk.nodes.childrenOf(node)) walk.readValue(child, place);
    return value;
  };

function readReturn(walk: TableWalk, node: NodeId, place: TablePlace): ExpressionFact {
  const [value] = walk.nodes.childrenOf(node);
  if (value !== undefined) place.returns.push(firstResult(walk.readValue(value, place), walk.language));
  return UNKNOWN;
}

/** Reads a comprehension: its names are local, and the result expression comes last. */
function readComprehension(walk: TableWalk, node: NodeId, place: TablePlace): ExpressionFact {
  const inner: TablePlace = { ...place, scope: createScope(place.scope) };
  const children = walk.nodes.childrenOf(node);
  const isLoop = (child: NodeId): boolean => walk.nodes.kindOf(child) === 'for_in_clause';
  for (const child of children.filter(isLoop)) walk.readValue(child, inner);
  for (const child of children.filter((each) => !isLoop(each))) walk.readValue(child, inner);
  return UNKNOWN;
}

/** Gives many kinds the same reader. */
const shareReader = (kinds: Iterable<string>, reader: TableReader): TableReaders =>
  Object.fromEntries([...kinds].map((kind) => [kind, reader]));

/** Nodes without references in them, or whose names are bound elsewhere. */
const IGNORED =
  'comment import_statement import_from_statement import_declaration use_declaration using_directive package_declaration';
const LOOPS =
  'for_statement for_in_clause range_clause enhanced_for_statement foreach_statement for_expression';
const RETURNS = 'return_statement return_expression expression_body arrow_expression_clause';

const READERS: ReadonlyMap<string, TableReader> = new Map(
  Object.entries({
    ...shareReader([...SELF_WORDS, ...SUPER_WORDS], (walk, node, place) => walk.nameValue(node, place)),
    ...shareReader(LITERALS, readLiteral),
    ...shareReader(['struct_type', 'interface_type'], readInside(UNKNOWN)),
    ...shareReader(IGNORED.split(' '), () => UNKNOWN),
    ...shareReader(LOOPS.split(' '), (walk, node, place) => walk.readLoop(node, place)),
    ...shareReader(RETURNS.split(' '), readReturn),
    ...VARIABLE_READERS,
    ...EXPRESSION_READERS,
    ...OPERATOR_READERS,
    ...shareReader(COMPREHENSIONS, readComprehension),
    ...shareReader(LAMBDAS, (walk, node, place) => walk.readLambda(node, place)),
    ...TABLE_CALL_READERS,
    ...shareReader(NAMES, readName),
  }),
);

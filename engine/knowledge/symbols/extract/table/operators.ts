import { type ExpressionFact, OUTSIDE, UNKNOWN } from '../../facts.ts';
import { HAS_OVERLOADS } from '../../overloads.ts';
import type { NodeId } from '../nodes.ts';
import type { TablePlace, TableReaders, TableWalk } from './place.ts';

// Among overloads the types of literals and operators choose: elsewhere they do not matter.

/** Returns the type of a literal. */
function nameLiteral(kind: string, text: string): string {
  if (kind === 'class_literal') return 'Class';
  if (/string/.test(kind)) return 'string';
  if (/char|rune/.test(kind)) return 'char';
  if (/^(?:true|false)$/.test(text)) return 'boolean';
  if (/^(?:null|nil|nullptr)$/.test(text)) return 'null';
  const isHex = /^0[xX]/.test(text);
  if (/[lL]$/.test(text)) return 'long';
  if (!isHex && /[fF]$/.test(text)) return 'float';
  if (!isHex && /[mM]$/.test(text)) return 'decimal';
  return /float|real/.test(kind) || (!isHex && /[.eEdD]/.test(text)) ? 'double' : 'int';
}

export function readLiteral(walk: TableWalk, node: NodeId, place: TablePlace): ExpressionFact {
  const { nodes, language } = walk;
  for (const child of nodes.childrenOf(node)) walk.readValue(child, place);
  if (!HAS_OVERLOADS.has(language)) return OUTSIDE;
  return ['x', nameLiteral(nodes.kindOf(node), nodes.textOf(node))];
}

/** Returns the name of an external type of a value, as far as the file alone says it. */
function nameType({ collector }: TableWalk, value: ExpressionFact): string | null {
  const known = value[0] === 'l' ? (collector.locals[value[1]] ?? UNKNOWN) : value;
  if (known[0] === 'x') return known[1] ?? null;
  if (known[0] !== 't') return null;
  const [, type] = known;
  if (type[0] === 'x') return type[1] ?? null;
  return type[0] === 'r' && type[1][0] === 'g' ? type[1][1] : null;
}

const NUMBERS = ['int', 'long', 'float', 'double'];

/** Returns the type of the sum of two numbers, or of a text with anything. */
function addTypes(one: string | null, other: string | null): ExpressionFact {
  if ([one, other].some((each) => each?.toLowerCase() === 'string')) return ['x', 'string'];
  const ranks = [one, other].map((each) =>
    ['byte', 'short', 'char'].includes(each ?? '') ? 0 : NUMBERS.indexOf(each?.toLowerCase() ?? ''),
  );
  return ranks.includes(-1) ? UNKNOWN : ['x', NUMBERS[Math.max(...ranks)]!];
}

function readBinary(walk: TableWalk, node: NodeId, place: TablePlace): ExpressionFact | null {
  const { nodes, language } = walk;
  if (!HAS_OVERLOADS.has(language)) return null;
  const [left, right] = [nodes.childIn(node, 'left'), nodes.childIn(node, 'right')];
  if (left < 0 || right < 0) return null;
  const values = [walk.readValue(left, place), walk.readValue(right, place)] as const;
  const sign = nodes.text.slice(nodes.endOf(left), nodes.startOf(right)).trim();
  if (/^(?:[<>]=?|[=!]==?|&&|\|\|)$/.test(sign)) return ['x', 'boolean'];
  if (sign === '?:' || sign === '??') return ['|', ...values];
  if (!/^(?:[-+*/%&|^]|<<|>>>?)$/.test(sign)) return UNKNOWN;
  return addTypes(nameType(walk, values[0]), nameType(walk, values[1]));
}

/** Reads `a instanceof B b`, which declares `b`. */
function readTypeTest(walk: TableWalk, node: NodeId, place: TablePlace): ExpressionFact {
  const { nodes, types } = walk;
  walk.readValue(nodes.childIn(node, 'left'), place);
  const right = nodes.childIn(node, 'right');
  const name = nodes.childIn(node, 'name');
  if (right >= 0) {
    const type = types.readType(right, place);
    if (name >= 0) walk.bindLocal(name, ['t', type], place);
  } else for (const child of nodes.childrenOf(node).slice(1)) walk.readValue(child, place);
  return ['x', 'boolean'];
}

/** Reads `new int[3]` and `new int[] { 1 }`. */
function readNewArray(walk: TableWalk, node: NodeId, place: TablePlace): ExpressionFact {
  const { nodes, types } = walk;
  const type = nodes.childIn(node, 'type');
  for (const child of nodes.childrenOf(node)) if (child !== type) walk.readValue(child, place);
  const read = types.readType(type, place);
  return ['t', read[0] === 'a' ? read : ['a', read]];
}

/** The readers of operators and new arrays. */
export const OPERATOR_READERS: TableReaders = {
  binary_expression: readBinary,
  instanceof_expression: readTypeTest,
  array_creation_expression: readNewArray,
};

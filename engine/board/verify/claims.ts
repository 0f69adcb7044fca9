import { z } from 'zod';
import { SvcError } from '../../core/base/errors.ts';
import { formatCount } from '../../core/base/text.ts';
import type { CriterionResult, SymbolResult, TestResult } from './rows.ts';

// Limits that no agent comes near are checked but not listed with the tool: every agent pays for the list's bytes.
const note = z
  .string()
  .refine((text) => text.length <= 4000, 'is longer than 4000')
  .optional();
const boundedText = (max: number) =>
  z
    .string()
    .trim()
    .refine((said) => said !== '' && said.length <= max, `is empty, or longer than ${max}`);
const boundedList = <T extends z.ZodType>(max: number, each: T) =>
  z
    .array(each)
    .refine((all) => all.length <= max, `are more than ${max}`)
    .optional();

// Unknown fields are ignored: programs add different ones.
export const criteriaInput = boundedList(
  200,
  z.object({
    criterion: boundedText(4000).optional(),
    index: z.int().min(1).optional(),
    status: z.enum(['met', 'not_met']).optional(),
    met: z.boolean().optional(),
    note,
  }),
).describe('One per acceptance criterion: its text, or its number as index; status, or met; note.');

export const testsInput = boundedList(
  50,
  z.object({
    command: boundedText(8192).refine((command) => !command.includes('\0'), 'has a NUL character'),
    result: z.enum(['passed', 'failed', 'skipped']).optional(),
    passed: z.boolean().optional(),
    note,
  }),
).describe('Shell commands that you ran in your folder, and their results; svc may run them again.');

export const symbolsInput = boundedList(
  500,
  z.object({ path: boundedText(4096), symbol: boundedText(500).optional() }),
).describe('The place of the work; path is relative to your worktree.');

const claimInvalidError = (field: string, problem: string): SvcError =>
  new SvcError('fields_invalid', `${field}: ${problem}`, { data: { fields: [{ field, problem }] } });

/** Returns the given value, in either of its two spellings. */
function mergeSpellings<T>(field: string, said: T | undefined, flag: T | undefined, wanted: string): T {
  if (said !== undefined && flag !== undefined && said !== flag)
    throw claimInvalidError(field, 'contradicts itself');
  const value = said ?? flag;
  if (value === undefined) throw claimInvalidError(field, `give ${wanted}`);
  return value;
}

/**
 * Converts criteria to the task's own wording. Of a repeated criterion the last result counts. Throws
 * `fields_invalid`.
 */
export function readCriteria(
  given: z.infer<typeof criteriaInput>,
  acceptance: readonly string[],
): CriterionResult[] {
  const found = new Map<string, CriterionResult>();
  for (const [at, each] of (given ?? []).entries()) {
    const field = `criteria.${at}`;
    const flag = each.met === undefined ? undefined : each.met ? 'met' : 'not_met';
    const status = mergeSpellings(field, each.status, flag, "status 'met' or 'not_met'");
    const criterion = resolveCriterion(field, each, acceptance);
    found.set(criterion, { criterion, status, note: each.note ?? null });
  }
  return [...found.values()];
}

function resolveCriterion(
  field: string,
  { criterion, index }: { criterion?: string | undefined; index?: number | undefined },
  acceptance: readonly string[],
): string {
  const findByNumber = (number: number): string => {
    const meant = acceptance[number - 1];
    if (meant !== undefined) return meant;
    throw claimInvalidError(
      field,
      `the task has ${formatCount(acceptance.length, 'acceptance criterion', 'acceptance criteria')}, but no criterion ${number}`,
    );
  };
  const worded = acceptance.find((each) => each.trim() === criterion);
  if (worded !== undefined) return worded;
  if (index !== undefined) return findByNumber(index);
  if (criterion === undefined)
    throw claimInvalidError(field, 'give the text of the criterion, or its number as index');
  const isNumber = /^[1-9]\d{0,3}$/.test(criterion) && Number(criterion) <= acceptance.length;
  return isNumber ? findByNumber(Number(criterion)) : criterion;
}

/** Throws `fields_invalid`. */
export const readTests = (given: z.infer<typeof testsInput>): TestResult[] =>
  (given ?? []).map(({ command, result, passed, note: why = null }, at) => {
    const flag = passed === undefined ? undefined : passed ? ('passed' as const) : ('failed' as const);
    const wanted = "result 'passed', 'failed' or 'skipped'";
    return { command, result: mergeSpellings(`tests.${at}`, result, flag, wanted), note: why };
  });

/** @param find resolves a path named by the reporter */
export const readSymbols = (
  given: z.infer<typeof symbolsInput>,
  find: (path: string) => Pick<SymbolResult, 'path' | 'exists'>,
): SymbolResult[] => (given ?? []).map(({ path, symbol = null }) => ({ ...find(path), symbol }));

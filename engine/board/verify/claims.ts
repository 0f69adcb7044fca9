import { z } from 'zod';
import { SvcError } from '../../base/errors.ts';
import { formatCount } from '../../base/text.ts';
import type { WorkspacePaths } from '../../workspace/workspace-path.ts';
import type { CriterionResult, SymbolResult, TestResult } from './rows.ts';

// Bounds that no agent comes near are checked, and not told in the list of tools: every agent pays for its bytes.
const note = z
  .string()
  .refine((text) => text.length <= 4000, 'is longer than 4000')
  .optional();
const text = (max: number) =>
  z
    .string()
    .trim()
    .refine((said) => said !== '' && said.length <= max, `is empty, or longer than ${max}`);
const atMost = <T extends z.ZodType>(max: number, each: T) =>
  z
    .array(each)
    .refine((all) => all.length <= max, `are more than ${max}`)
    .optional();

// What is said besides is left out: programs differ in what they add.
export const criteriaInput = atMost(
  200,
  z.object({
    criterion: text(4000).optional(),
    index: z.int().min(1).optional(),
    status: z.enum(['met', 'not_met']).optional(),
    met: z.boolean().optional(),
    note,
  }),
).describe('One per acceptance criterion: its text, or its number as index; status, or met; note.');

export const testsInput = atMost(
  50,
  z.object({
    command: text(8192).refine((command) => !command.includes('\0'), 'has a NUL character'),
    result: z.enum(['passed', 'failed', 'skipped']).optional(),
    passed: z.boolean().optional(),
    note,
  }),
).describe('Shell commands that you ran in your folder, and how they ended; they may be run again.');

export const symbolsInput = atMost(
  500,
  z.object({ path: text(4096), symbol: text(500).optional() }),
).describe('Where the work is; path is relative to your worktree.');

const invalid = (field: string, problem: string): SvcError =>
  new SvcError('fields_invalid', `${field}: ${problem}`, { data: { fields: [{ field, problem }] } });

/** The one that was given, in either spelling. */
function settled<T>(field: string, said: T | undefined, flag: T | undefined, wanted: string): T {
  if (said !== undefined && flag !== undefined && said !== flag) throw invalid(field, 'says two things');
  const value = said ?? flag;
  if (value === undefined) throw invalid(field, `give ${wanted}`);
  return value;
}

/** Criteria in the task's own words. Of one that is named twice the last word counts. Throws `fields_invalid`. */
export function criteriaOf(
  given: z.infer<typeof criteriaInput>,
  acceptance: readonly string[],
): CriterionResult[] {
  const found = new Map<string, CriterionResult>();
  for (const [at, each] of (given ?? []).entries()) {
    const field = `criteria.${at}`;
    const flag = each.met === undefined ? undefined : each.met ? 'met' : 'not_met';
    const status = settled(field, each.status, flag, "status 'met' or 'not_met'");
    const criterion = criterionOf(field, each, acceptance);
    found.set(criterion, { criterion, status, note: each.note ?? null });
  }
  return [...found.values()];
}

function criterionOf(
  field: string,
  { criterion, index }: { criterion?: string | undefined; index?: number | undefined },
  acceptance: readonly string[],
): string {
  const numbered = (number: number): string => {
    const meant = acceptance[number - 1];
    if (meant !== undefined) return meant;
    throw invalid(
      field,
      `the task has ${formatCount(acceptance.length, 'acceptance criterion', 'acceptance criteria')}, and no criterion ${number}`,
    );
  };
  const worded = acceptance.find((each) => each.trim() === criterion);
  if (worded !== undefined) return worded;
  if (index !== undefined) return numbered(index);
  if (criterion === undefined) throw invalid(field, 'give the text of the criterion, or its number as index');
  const isNumber = /^[1-9]\d{0,3}$/.test(criterion) && Number(criterion) <= acceptance.length;
  return isNumber ? numbered(Number(criterion)) : criterion;
}

/** Throws `fields_invalid`. */
export const testsOf = (given: z.infer<typeof testsInput>): TestResult[] =>
  (given ?? []).map(({ command, result, passed, note: why = null }, at) => {
    const flag = passed === undefined ? undefined : passed ? ('passed' as const) : ('failed' as const);
    const wanted = "result 'passed', 'failed' or 'skipped'";
    return { command, result: settled(`tests.${at}`, result, flag, wanted), note: why };
  });

/** Throws `path_outside`. @param folder of the worker; null for a session that has none of its own */
export const symbolsOf = (
  given: z.infer<typeof symbolsInput>,
  folder: string | null,
  paths: WorkspacePaths,
): SymbolResult[] =>
  (given ?? []).map(({ path, symbol = null }) => {
    const { absolute, key } = folder === null ? paths.resolveNamed(path) : paths.resolveInside(folder, path);
    return { path: key, symbol, exists: paths.statOf(absolute) !== null };
  });

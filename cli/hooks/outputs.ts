import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { asText, type ToolCallFields } from './tool-writes.ts';

/** The output of a tool, as far as its agent's hook receives it. */
export interface HookToolOutput {
  text: string;
  /** The exit code of its command; null if it is unknown, or part of the text. */
  exitCode: number | null;
  /** True if the hook's answer can replace the output. */
  isReplaceable: boolean;
}

/** How an agent passes a tool's output to its hook, and accepts a replacement. */
interface OutputShape {
  /** Null for an output of another form, such as an image. */
  read(sent: ToolCallFields): HookToolOutput | null;
  replace?: (sent: ToolCallFields, text: string, output: HookToolOutput) => object;
}

const asFields = (value: unknown): ToolCallFields =>
  typeof value === 'object' && value !== null ? (value as ToolCallFields) : {};

const readable = (
  text: string | null,
  isReplaceable: boolean,
  exitCode: number | null = null,
): HookToolOutput | null => (text === null ? null : { text, exitCode, isReplaceable });

const replaceHeard = (sent: ToolCallFields, updatedToolOutput: unknown): object => ({
  hookSpecificOutput: { hookEventName: asText(sent.hook_event_name) ?? 'PostToolUse', updatedToolOutput },
});

/** Its model sees an exit code before the output, and a replaced output has none. */
const EXIT_LINE = 'Process exited with code ';

/** By preset name, as tested with the versions of .ci/agents.sh. Outputs of other agents are never read. */
export const OUTPUTS: Readonly<Record<string, OutputShape>> = {
  claude: {
    read({ tool_response: given, error }) {
      // It accepts no replacement for a failed tool.
      if (typeof error === 'string') return readable(error, false);
      const { stdout, isImage } = asFields(given);
      return isImage === true ? null : readable(asText(stdout), true);
    },
    // Only a replacement of the same form is accepted.
    replace: (sent, stdout) => replaceHeard(sent, { ...asFields(sent.tool_response), stdout }),
  },
  codex: {
    read(sent) {
      const exitCode = findExitCode(sent);
      return readable(asText(sent.tool_response), exitCode !== null, exitCode);
    },
    replace: (_sent, text, { exitCode }) => ({
      decision: 'block',
      reason: `${EXIT_LINE}${exitCode}\nOutput:\n${text}`,
    }),
  },
  // It replaces the output with an error of the tool.
  gemini: { read: ({ tool_response: given }) => readable(asText(asFields(given).llmContent), false) },
  qwen: { read: ({ tool_response: given }) => readable(asText(asFields(given).llmContent), false) },
  opencode: {
    read: ({ tool_response: given }) => readable(asText(given), true),
    replace: replaceHeard,
  },
  copilot: {
    read: ({ tool_result: given }) => readable(asText(asFields(given).text_result_for_llm), true),
    replace: (sent, textResultForLlm) => ({
      modifiedResult: {
        resultType: asText(asFields(sent.tool_result).result_type) ?? 'success',
        textResultForLlm,
      },
    }),
  },
};

/** Reads the output of the tool; null if the agent does not report it, or in an unknown form. */
export function readOutput(agent: string, sent: ToolCallFields): HookToolOutput | null {
  return Object.hasOwn(OUTPUTS, agent) ? (OUTPUTS[agent]?.read(sent) ?? null) : null;
}

/** Formats a replaced output for the agent; null if it cannot be replaced. */
export function replaceOutput(
  agent: string,
  sent: ToolCallFields,
  text: string,
  output: HookToolOutput,
): object | null {
  return output.isReplaceable ? (OUTPUTS[agent]?.replace?.(sent, text, output) ?? null) : null;
}

/** The last line of a transcript repeats the output, as JSON. */
const MOST_TRANSCRIPT_BYTES = 8 * 1024 * 1024;

/** Codex reports no exit code to its hook, but has written one to its transcript by then. Null if it is not found. */
function findExitCode({ transcript_path: path, tool_use_id: id }: ToolCallFields): number | null {
  if (typeof path !== 'string' || typeof id !== 'string') return null;
  try {
    const lines = readEnd(path).split('\n').reverse();
    const ended = lines.find(
      (line) => line.includes('"CommandExecution"') && line.includes(JSON.stringify(id)),
    );
    const { payload } = JSON.parse(ended ?? '') as {
      payload?: { item?: { id?: unknown; exit_code?: unknown } };
    };
    const { id: found, exit_code: code } = payload?.item ?? {};
    return found === id && typeof code === 'number' ? code : null;
  } catch {
    return null;
  }
}

function readEnd(path: string): string {
  const file = openSync(path, 'r');
  try {
    const { size } = fstatSync(file);
    const bytes = Buffer.alloc(Math.min(size, MOST_TRANSCRIPT_BYTES));
    const read = readSync(file, bytes, 0, bytes.length, size - bytes.length);
    return bytes.toString('utf8', 0, read);
  } finally {
    closeSync(file);
  }
}

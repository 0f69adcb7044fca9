import type { Task } from '../../board/tasks/index.ts';
import type { Placement, SessionOrder } from '../../workers/sessions/index.ts';

/** What is known of a run when its texts are written. */
export interface TextSource {
  session: SessionOrder;
  task: Task;
  placement: Placement;
  /** The command by which the run reaches svc; null when it has none. */
  svc: string | null;
  /** There is a file of what is remembered, beside the brief. */
  hasNotes: boolean;
  /** The run that this one goes on with; null for a first run. */
  earlier: {
    /** Why it was interrupted, a clause; null when that is not known. */
    cause: string | null;
    /** Its agent has the conversation still. */
    isRemembered: boolean;
    /** What it committed, newest first; null when that is not known or not needed. */
    commits: readonly { id: string; subject: string }[] | null;
    /** The task of that run, when this one follows it up with a task of its own; else null. */
    followed: { taskId: string; title: string } | null;
  } | null;
}

/** `brief` is the file TASK_BRIEF.md; `resumption` is what a run is told that goes on with an earlier one. */
export type TextName = 'brief' | 'resumption';

/** The sections of a text in their order, with an empty line between two. One without lines is left out. */
const SECTIONS = ['title', 'facts', 'task', 'context', 'help'] as const;

/** Writes lines for one section of what workers are told. The prompt itself is the approved one, and nobody adds to it. */
export interface TextContributor {
  name: string;
  text: TextName;
  section: (typeof SECTIONS)[number];
  write(source: TextSource): readonly string[];
}

/** Puts a text together; it ends with a newline. A contributor that throws is logged, and does not silence the others. */
export function composeText(
  { contributors, log }: { contributors: readonly TextContributor[]; log: Log },
  text: TextName,
  source: TextSource,
): string {
  const wanted = contributors.filter((each) => each.text === text);
  const sections = SECTIONS.map((section) =>
    wanted.filter((each) => each.section === section).flatMap((each) => writeOrNothing(each, source, log)),
  );
  return `${sections
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n')}\n`;
}

type Log = { warn(facts: object, text: string): void };

function writeOrNothing({ name, write }: TextContributor, source: TextSource, log: Log): readonly string[] {
  try {
    return write(source);
  } catch (error) {
    log.warn({ contributor: name, error }, 'part of a worker prompt was omitted');
    return [];
  }
}

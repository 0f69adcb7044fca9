import * as z from 'zod';

const guidanceKey = (description: string) =>
  z.boolean().default(true).meta({ notation: '*bool', description, unset: 'true' });

/** The `chair` section: the rules that agents are reminded of. */
export const chairSchema = z.strictObject({
  guidance: z
    .strictObject({
      entry_chair: guidanceKey(
        'Tell the session that a person starts that it is the Chair and delegates work.',
      ),
      multiphase_tasks: guidanceKey('Remind the Chair to split work of several phases into tasks.'),
      workers_no_fanout: guidanceKey('Remind workers not to start other workers.'),
      bus_only: guidanceKey('Remind sessions to communicate only over the message bus.'),
      search_before_create: guidanceKey(
        'Remind sessions to search for existing code before they write new code.',
      ),
      lock_shared: guidanceKey('Remind sessions to lock shared paths before they edit them.'),
      disk_memory: guidanceKey(
        'Remind sessions to store lasting facts in memory on disk, not in their context.',
      ),
      clarify_before_spawn: guidanceKey(
        'Remind the Chair to settle open questions before it starts workers.',
      ),
    })
    .prefault({}),
});

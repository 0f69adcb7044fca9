/** The other machine on which evidence was rerun; null for this one. */
export const rerunMachinesSchema = `
ALTER TABLE verification ADD COLUMN rerun_on TEXT;
`;

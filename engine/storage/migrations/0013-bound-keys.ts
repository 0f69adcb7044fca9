/** A key of a person that ends with a process: its pid and start time. Null in both for one that holds until it is removed. */
export const boundKeys = `
ALTER TABLE person_key ADD COLUMN pid INTEGER;
ALTER TABLE person_key ADD COLUMN pid_start TEXT;
`;

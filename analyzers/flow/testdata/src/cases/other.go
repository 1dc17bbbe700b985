package cases

const fromAnotherFile = "be kind"

const header = "HEADER"

// Loading LibTorch is all that happens.
int main() { return 0; }

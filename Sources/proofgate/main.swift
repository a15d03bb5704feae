print("proofgate")
